import { type Attempt, attempt, strays, tally, withinMs } from './attempt.ts'
import { frame, HostileSocket, opcodes } from './hostile-socket.ts'
import { pause } from './installation.ts'
import type { Ready } from './load-agent.ts'
import { bySize, type SectionContext } from './section.ts'

const bodyBytesMax = 10 * 1024 * 1024
const connectionsPerAgentMax = 1_000

const openOrThrow = async ({
  run,
  token,
}: Pick<Ready, 'run' | 'token'>): Promise<HostileSocket> => {
  const opened = await HostileSocket.open(run, token)
  if (typeof opened === 'number') throw new Error(`an upgrade answered ${opened}`)
  return opened
}

/** How a connection ends that sends this; what else was open has to stay. */
const endsWith =
  (ready: Ready, wanted: readonly number[], ...frames: readonly Buffer[]) =>
  async (): Promise<string | null> => {
    const honest = await openOrThrow(ready)
    const hostile = await openOrThrow(ready)
    hostile.send(...frames)
    const ending = await withinMs(hostile.ended)
    hostile.destroy()
    honest.call(1, 'system__time', {})
    await withinMs(honest.next())
    const isServed = honest.texts === 1
    honest.destroy()
    if (!ending) return 'was not closed'
    if (!isServed) return 'another connection was not served after it'
    return wanted.includes(ending.code ?? 0) ? null : `closed with ${ending.code ?? 'no code'}`
  }

/** Frames that no client sends, and more of them than anybody needs. */
const frames = (ready: Ready): Attempt[] => [
  attempt(
    'W04 a frame that is not masked',
    endsWith(ready, [1002], frame({ opcode: opcodes.text, payload: '{}', masked: false })),
  ),
  attempt(
    'W04 reserved bits',
    endsWith(ready, [1002], frame({ opcode: opcodes.text, payload: '{}', rsv: 4 })),
  ),
  attempt('W04 an opcode that there is not', endsWith(ready, [1002], frame({ opcode: 3 }))),
  attempt(
    'W04 a ping of 126 bytes',
    endsWith(ready, [1002], frame({ opcode: opcodes.ping, payload: 'x'.repeat(126) })),
  ),
  attempt(
    'W04 a close in fragments',
    endsWith(ready, [1002], frame({ opcode: opcodes.close, fin: false })),
  ),
  attempt(
    'W05 a frame that declares 2^63-1 bytes',
    endsWith(ready, [1009], frame({ opcode: opcodes.text, declared: 2n ** 63n - 1n })),
  ),
  attempt(
    'W06 a message of one byte over the limit',
    endsWith(ready, [1009], frame({ opcode: opcodes.text, declared: BigInt(bodyBytesMax + 1) })),
  ),
  attempt(
    'W07 100,000 fragments',
    endsWith(
      ready,
      // Fragments that were still under way may reset the connection before its code is read.
      [1008, 1009, 0],
      frame({ opcode: opcodes.text, payload: '[', fin: false }),
      ...Array.from({ length: 100_000 }, () =>
        frame({ opcode: opcodes.continuation, payload: '1', fin: false }),
      ),
    ),
  ),
]

const answersAsked = 200
const unreadMs = 13_000

/** A peer that asks for 200 MiB and does not read: it reads a little now and then, to see whether it was closed. */
const unread = (ready: Ready): Attempt =>
  attempt('W08 a reader that stops reading', async () => {
    const socket = await openOrThrow(ready)
    socket.pause()
    for (let i = 0; i < answersAsked; i += 1)
      socket.call(i, 'filesystem__read', { path: 'large.txt' })
    let ending = null
    for (let round = 0; round < 8 && !ending; round += 1) {
      await pause(unreadMs)
      socket.resume()
      ending = await withinMs(socket.ended, 500)
      if (!ending) socket.pause()
    }
    const { texts } = socket
    socket.destroy()
    if (!ending) return `was not closed, and got ${texts} answers`
    if (texts >= answersAsked) return 'got every answer'
    return ending.code === 1013 || ending.code === null ? null : `closed with ${ending.code}`
  })

/** Connections of one agent beyond its limit; another agent still gets one. */
const many = ({ run, token }: Ready, other: string): Attempt =>
  attempt('W09 more connections than one agent may have', async () => {
    const opened: HostileSocket[] = []
    const open = async (): Promise<number> => {
      const socket = await HostileSocket.open(run, token)
      if (typeof socket === 'number') return socket
      opened.push(socket)
      return 101
    }
    let counts: ReadonlyMap<number, number> = new Map()
    for (let part = 0; part < connectionsPerAgentMax + 50; part += 50)
      counts = await tally(50, open)
    const second = await HostileSocket.open(run, other)
    for (const socket of opened) socket.destroy()
    if (typeof second === 'number') return `another agent got ${second}`
    second.destroy()
    if (opened.length > connectionsPerAgentMax) return `${opened.length} were opened`
    return strays(counts, [429])
  })

/** Attacks on open connections. Those in `slow` wait for limits of time, and run beside everything else. */
export const socketAttempts = (
  context: SectionContext,
  ready: Ready,
  other: string,
): { readonly quick: Attempt[]; readonly slow: Attempt[] } => ({
  quick: [...frames(ready), ...bySize(context, [], [many(ready, other)], [many(ready, other)])],
  slow: [unread(ready)],
})
