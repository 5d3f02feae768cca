export type SpanFacts = Readonly<Record<string, string | number | boolean>>

/** Adds facts to a span; `failure` marks it as failed, in words. */
export type NoteSpan = (facts: SpanFacts, failure?: string) => void

/** Spans for whoever looks into how long what took. There is none where nobody asked for them. */
export interface Tracing extends AsyncDisposable {
  /**
   * Must run the work inside a span, below `parent` (a W3C `traceparent`; anything else begins a trace of its
   * own), and end the span with it. Must let through what the work returns or raises, and never fail itself.
   */
  span<T>(
    span: { readonly name: string; readonly parent: string | undefined; readonly facts: SpanFacts },
    work: (note: NoteSpan) => Promise<T>,
  ): Promise<T>
}
