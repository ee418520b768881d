/// What a poll has to tell besides records; to be handled in order, and before the records.
package enum ConsumerEvent: Sendable, Equatable {
    /// These partitions are the lane's from now on; reading starts at their committed offsets.
    case assigned([TopicPartition])
    /// These partitions go to somebody else. The lane finishes or abandons what it has of them, commits, and calls
    /// ``Consumer/completeRebalance()``; until then the group waits, but not
    /// for longer than `max.poll.interval.ms`: a commit that fails with ``KafkaError/isStaleMember`` tells that they
    /// are lost after all.
    case revoked([TopicPartition])
    /// These partitions are gone already. The lane abandons what it has of them, commits nothing, and calls
    /// ``Consumer/completeRebalance()``.
    case lost([TopicPartition])
    /// Something is wrong with the client or one partition, and reading goes on: an unreachable broker, a topic that
    /// is not there, a missing right.
    case failed(KafkaError, partition: TopicPartition?)
}
