package import Push
package import Sealing

extension ChainBinding {
    /// What the stored chain of `pusher` in `month` is bound to.
    package init(_ pusher: PusherID, _ month: Month) {
        self.init(pusherHigh: pusher.uuid.high, pusherLow: pusher.uuid.low, month: month.ordinal)
    }
}
