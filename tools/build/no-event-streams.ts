/**
 * What stands in the bundles for `@smithy/core/event-streams`. S3 answers one request alone with a stream of events,
 * and it is not one of ours; the client imports the code for it dynamically, and for that import esbuild would keep a
 * third of the client unshaken.
 */
export const resolveEventStreamSerdeConfig = <T>(config: T): T => config

export const eventStreamSerdeProvider = leftOut
export const EventStreamSerde = leftOut

function leftOut(): never {
  throw new Error('event streams are not in this bundle')
}
