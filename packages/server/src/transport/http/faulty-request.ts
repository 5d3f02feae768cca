import type { Envelope, Members } from './envelope.ts'

/** One request of a body or frame whose text has faults: it is refused or fails, the others are served. */
export class FaultyRequest {
  /** What becomes of it. */
  readonly envelope: Envelope
  /** The members that decide where it is answered. */
  readonly method: unknown
  readonly params: unknown

  constructor(envelope: Envelope, { method, params }: Members) {
    this.envelope = envelope
    this.method = method
    this.params = params
  }
}
