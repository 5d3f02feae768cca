/** What the model does next: the tool as a server or the program names it, and its arguments. */
export type Step = {
  readonly tool: string
  /** Where they depend on what the step before answered: a function of that. */
  readonly input: object | ((before: string) => object)
  /** What happens meanwhile, before the model goes on. */
  readonly first?: () => Promise<unknown>
}

export type Tool = {
  readonly name: string
  /** OpenAI has tools in groups, which a call names beside the tool. */
  readonly namespace?: string
  /** OpenAI has tools whose input is a text. */
  readonly takesText?: boolean
}

/** A request as the model reads it. */
export type Said = {
  readonly tools: readonly Tool[]
  /** What the tools that were called so far have answered. */
  readonly results: readonly string[]
  readonly isStream: boolean
}

export type Turn = { readonly text: string } | { readonly tool: Tool; readonly input: object }

/** One protocol between a program and its model. */
export type Wire = {
  readonly path: RegExp
  readonly read: (body: unknown, url: URL) => Said
  readonly write: (turn: Turn, said: Said) => { readonly type: string; readonly text: string }
}

export const asJson = (value: unknown) => ({
  type: 'application/json',
  text: JSON.stringify(value),
})

/** Server-sent events, each with its type in front where the protocol has it there. */
export const asEvents = (events: readonly object[], { named = true } = {}) => ({
  type: 'text/event-stream',
  text: events
    .map((event) => {
      const name = named && 'type' in event ? `event: ${event.type}\n` : ''
      return `${name}data: ${JSON.stringify(event)}\n\n`
    })
    .join(''),
})
