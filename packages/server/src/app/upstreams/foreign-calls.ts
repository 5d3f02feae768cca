import type { CapabilityContext } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { GateQuestions, Gates } from '../../ports/gates.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { ResourceWatch, ToolCall } from '../../ports/upstream.ts'
import type { CallUpstream } from './tool-capability.ts'

/** The caller of a tool, as far as its call is concerned with it. */
export type ToolCaller = Pick<
  CapabilityContext,
  'clock' | 'logs' | 'meta' | 'note' | 'progress' | 'request_id' | 'signal' | 'whileAsking'
> & {
  readonly agent: Pick<CapabilityContext['agent'], 'name'>
  readonly secrets: Pick<Secrets, 'scrub'>
}

/** Hears of changes of a resource over the connection of an agent. Raises as a call does before its server answers. */
export type WatchUpstream = (
  input: GateQuestions['watch resource']['given'],
  signal: AbortSignal,
  changed: () => void,
) => Promise<ResourceWatch>

/** Reaches servers by way of the first gate process, which has all connections: their state and questions are in one place. */
export const serversElsewhere = (
  gates: Gates,
): { readonly call: CallUpstream; readonly watch: WatchUpstream } => ({
  async call(call, context) {
    const { agent, request_id, meta, logs, signal } = context
    /** People are being asked, and the deadline waits. */
    const asking: (() => void)[] = []
    const given = { call, agent: agent.name, request_id, meta, log_level: logs?.level ?? null }
    try {
      return await gates.ask(0, 'call server', given, {
        signal,
        told(told) {
          if (told.kind === 'progress') context.progress(told.done, told.total, told.message)
          else if (told.kind === 'noted') context.note(told.facts)
          else if (told.kind === 'log') logs?.tell(told.message)
          else if (!told.asking) asking.pop()?.()
          else void context.whileAsking(() => new Promise<void>((end) => void asking.push(end)))
        },
      })
    } finally {
      for (const end of asking) end()
    }
  },
  async watch(input, signal, changed) {
    const left = new AbortController()
    const leave = () => left.abort(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await new Promise<ResourceWatch>((resolve, reject) => {
        const ended = gates
          .ask(0, 'watch resource', input, {
            signal: left.signal,
            told(what) {
              if (what === 'changed') changed()
              else resolve({ ended, [Symbol.asyncDispose]: async () => left.abort() })
            },
          })
          // Once it watches, nobody needs to know why it ended.
          .then(() => undefined, reject)
      })
    } finally {
      signal.removeEventListener('abort', leave)
    }
  },
})

/** Serves the other gate processes with the connections of this one, which is the first. */
export const answerServers = (
  gates: Gates,
  deps: { readonly clock: Clock; readonly secrets: Pick<Secrets, 'scrub'> },
  by: {
    readonly call: (call: ToolCall, caller: ToolCaller) => ReturnType<CallUpstream>
    readonly watch: WatchUpstream
  },
): void => {
  gates.answer('call server', ({ call, log_level, agent, ...given }, { signal, tell }) =>
    by.call(call, {
      ...deps,
      ...given,
      signal,
      agent: { name: agent },
      logs:
        log_level === null
          ? null
          : { level: log_level, tell: (message) => tell({ kind: 'log', message }) },
      progress: (done, total, message) => tell({ kind: 'progress', done, total, message }),
      note: (facts) => tell({ kind: 'noted', facts }),
      async whileAsking(ask) {
        tell({ kind: 'asking', asking: true })
        try {
          return await ask()
        } finally {
          tell({ kind: 'asking', asking: false })
        }
      },
    }),
  )
  gates.answer('watch resource', async (input, { signal, tell }) => {
    await using watch = await by.watch(input, signal, () => tell('changed'))
    // A signal that has aborted tells its listeners no more.
    if (signal.aborted) return null
    tell('watching')
    const left = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([watch.ended, left])
    return null
  })
}
