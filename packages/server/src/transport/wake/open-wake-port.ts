import { Buffer } from 'node:buffer'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { App } from '../../app/app.ts'
import type { Log } from '../../ports/log.ts'
import { Answered } from './answered.ts'
import { Budget } from './budget.ts'
import { parseWake, type Wake } from './parse-wake.ts'

const host = '127.0.0.1'
const answersPerSecond = 100
/** Far above what wakes are for, far below what a flood costs: the rest is dropped unread. */
const readPerSecond = 2_000
const answerBytesMax = 256
const underWayMax = 1_000
const reportEveryMs = 60_000

export type WakeCounts = {
  readonly received: number
  readonly woken: number
  readonly dropped: number
  readonly answered: number
  /** Valid and with an id, but over the rate of answers. */
  readonly unanswered: number
  /** Sent again, since no answer had come: answered as at first, and no further wake. */
  readonly repeated: number
}

type Verdict = Awaited<ReturnType<App['wakeAgent']>>

export type WakePort = AsyncDisposable & {
  readonly port: number
  counts(): WakeCounts
}

export type WakePortOptions = {
  readonly app: Pick<App, 'wakeAgent'>
  readonly log: Log
  readonly port: number
  readonly nowMs?: () => number
  /** Lets a test hold the very socket, so as to send from its port. */
  readonly bind?: (port: number) => Promise<Socket>
}

export const bindLoopback = async (port: number): Promise<Socket> => {
  // Exclusive: nobody else on this machine may take a share of what is sent here.
  const socket = createSocket({ type: 'udp4', reuseAddr: false })
  socket.bind({ address: host, port, exclusive: true })
  await once(socket, 'listening')
  return socket
}

/** Tells of what was dropped since it was last told. */
const reportDropped = (counts: WakeCounts, log: Log): NodeJS.Timeout => {
  let reported = 0
  return setInterval(() => {
    if (counts.dropped === reported) return
    log.warn({ ...counts }, 'the wake port dropped datagrams')
    reported = counts.dropped
  }, reportEveryMs).unref()
}

/**
 * Takes wakes from programs of this machine. Whoever can send here is nobody in particular, so a wake
 * says only that there is something to do; and whatever is no valid wake is dropped, counted and never
 * answered.
 */
export async function openWakePort(options: WakePortOptions): Promise<WakePort> {
  const { app, log } = options
  const nowMs = options.nowMs ?? (() => performance.now())
  const socket = await (options.bind ?? bindLoopback)(options.port)
  const { port } = socket.address()
  const counts = { received: 0, woken: 0, dropped: 0, answered: 0, unanswered: 0, repeated: 0 }
  const reads = new Budget(readPerSecond, nowMs)
  const answers = new Budget(answersPerSecond, nowMs)
  const underWay = new Set<Promise<void>>()
  const answered = new Answered<Verdict>(nowMs)
  let closed = false

  const answer = (id: string, verdict: Verdict, to: RemoteInfo) => {
    const bytes = Buffer.from(JSON.stringify({ id, ...verdict }))
    if (closed || bytes.length > answerBytesMax || !answers.take()) {
      counts.unanswered += 1
      return
    }
    counts.answered += 1
    // A peer that is gone is not our failure.
    socket.send(bytes, to.port, to.address, () => {})
  }

  const wakeOnce = async (input: Omit<Wake, 'id'>): Promise<Verdict> => {
    const verdict = await app.wakeAgent(input)
    if (verdict.ok) counts.woken += 1
    return verdict
  }

  const handle = async (wake: Wake, bytes: Buffer, from: RemoteInfo): Promise<void> => {
    const { id, ...input } = wake
    const sent = { port: from.port, id, bytes }
    const { verdict, isRepeated } = answered.once(sent, () => wakeOnce(input))
    if (isRepeated) counts.repeated += 1
    const given = await verdict
    if (id !== undefined) answer(id, given, from)
  }

  socket.on('message', (bytes, from) => {
    counts.received += 1
    // @SECURITY A datagram that claims to come from this very port is never looked at: an answer to it would come
    // back here. open-wake-port.test.ts fails without it.
    const own = from.port === port || from.address !== host
    const wake = own || underWay.size >= underWayMax || !reads.take() ? null : parseWake(bytes)
    if (wake === null) {
      counts.dropped += 1
      return
    }
    const handled = handle(wake, bytes, from)
      .catch((cause: unknown) => log.error({ err: cause }, 'a wake could not be handled'))
      .finally(() => underWay.delete(handled))
    underWay.add(handled)
  })
  socket.on('error', (cause) => log.warn({ err: cause }, 'the wake port failed'))

  const reporting = reportDropped(counts, log)

  return {
    port,
    counts: () => ({ ...counts }),
    async [Symbol.asyncDispose]() {
      closed = true
      clearInterval(reporting)
      const gone = once(socket, 'close')
      socket.close()
      await gone
      await Promise.all(underWay)
    },
  }
}
