/// Bounds: when reading stops and goes on, and how it ends.
extension OutboundMachine {
    /// How many more records should be read now.
    var room: Int {
        isPaused || isDraining ? 0 : max(settings.maximumRecords - records.count, 0)
    }

    // MARK: Pausing

    /// Notes whether a destination holds more than its share.
    ///
    /// One that has stalled sheds instead and holds up nobody.
    mutating func refreshCrowd(_ index: Int) {
        let load = destinations[index].load
        let bound = settings.maximumRecordsPerDestination
        let isStalled = destinations[index].isStalled
        if destinations[index].isCrowded, isStalled || load <= bound / 2 {
            destinations[index].isCrowded = false
            crowdedDestinations -= 1
        } else if !destinations[index].isCrowded, !isStalled, load >= bound {
            destinations[index].isCrowded = true
            crowdedDestinations += 1
        }
    }

    /// Stops reading at the bounds, and lets it go on at half of them.
    ///
    /// With retry topics at seven eighths: stalled destinations may hold three quarters for long, which must not stop the others.
    mutating func refreshPauses() {
        guard !isDraining else { return }
        let wasPaused = isPaused
        if isPaused {
            isPaused =
                crowdedDestinations > 0 || records.count > resumption(settings.maximumRecords)
                || records.footprint > resumption(settings.maximumBytes)
        } else {
            isPaused =
                crowdedDestinations > 0 || records.count >= settings.maximumRecords
                || records.footprint >= settings.maximumBytes
        }
        guard isPaused != wasPaused else { return }
        for partition in partitions.assigned { tellPause(partition) }
    }

    private func resumption(_ bound: Int) -> Int {
        settings.transient.sheds ? bound / 8 * 7 : bound / 2
    }

    /// Stops reading a partition that is too far past its first unfinished record.
    mutating func refreshWindow(_ partition: Partition) {
        let wasFull = partitions[partition].isWindowFull
        let isFull =
            wasFull ? !partitions[partition].tracker.hasRoomAgain : partitions[partition].tracker.isFull
        guard isFull != wasFull else { return }
        partitions[partition].isWindowFull = isFull
        tellPause(partition)
    }

    mutating func tellPause(_ partition: Partition) {
        let mustPause = isPaused || partitions[partition].isWindowFull
        guard mustPause != partitions[partition].isPaused else { return }
        partitions[partition].isPaused = mustPause
        actions.append(mustPause ? .pause(partition) : .resume(partition))
    }

    // MARK: Revocation and drain

    /// Gives back what of a partition is not under way, so that what is can still end and be committed before the revocation.
    mutating func relinquish(_ partition: Partition) {
        guard partitions.contains(partition) else { return }
        partitions[partition].isLeaving = true
        giveBackAll { $0.partition == partition && [.queued, .held, .waiting].contains($0.state) }
    }

    mutating func revoke(_ partition: Partition) {
        guard partitions.contains(partition) else { return }
        giveBackAll { $0.partition == partition }
        partitions.revoke(partition)
    }

    /// Gives back what is not under way; the rest has until `deadline` to end.
    mutating func beginDrain(until deadline: Duration, _ now: Now) {
        drainDeadline = min(drainDeadline ?? deadline, deadline)
        giveBackAll { [.queued, .held, .waiting].contains($0.state) }
        if deadline <= now.monotonic { giveUp() }
    }

    /// Gives back everything; what is still under way no longer matters.
    mutating func giveUp() {
        giveBackAll { _ in true }
        batches.removeAll()
    }

    var isDrained: Bool { isDraining && records.count == 0 }
}
