/** Parts of an answer that are read: a `Response`, or something lighter in its place. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}
