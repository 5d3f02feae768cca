import type { Socket } from 'node:net'
import { systemOp } from './app/call/op.ts'
import { followVault } from './app/reach/follow-vault.ts'
import { compose } from './compose.ts'
import { loadSettings } from './config/load.ts'
import { sentFailure } from './domain/sent-failure.ts'
import { type Envelope, GateLink } from './gates/gate-link.ts'
import type { FromGate, GateBegin, ToGate } from './gates/gate-messages.ts'
import { gatewayOptions, graceMs, levelOf, linksOf } from './gateway-options.ts'
import { Disposal } from './platform/disposal.ts'
import { createLog } from './telemetry/log.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { GatewayServer } from './transport/gateway/gateway-server.ts'
import { Scrubber } from './vault/scrub/scrubber.ts'

/** Longer than an orderly end takes: what hangs then must not outlive the service. */
const endMs = 12_000

const die = (): void => void process.kill(process.pid, 'SIGKILL')

const post = (message: FromGate): void => {
  // The end of this process tells the rest.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

/** Serves the agents whose home this process is, over connections that the first one hands over. */
const openGate = async (begin: GateBegin, link: GateLink) => {
  const settings = loadSettings(begin.flags)
  const scrubber = new Scrubber()
  const output = new LogOutput(process.stderr.fd)
  const log = createLog(levelOf(settings), output, (line) => scrubber.scrub(line))
  await using opening = new Disposal()
  const composition = opening.use(await compose(settings, log, { scrubber, output, gates: link }))
  const { app, ids } = composition
  app.listeners.expect('gateway')
  const { nodeIdentity } = begin
  const links = nodeIdentity && opening.use(linksOf(composition, nodeIdentity, log))
  const gateway = new GatewayServer(gatewayOptions(settings, composition, log, links))
  opening.defer(() => gateway.close(graceMs))
  app.listeners.page = begin.page
  app.listeners.address = begin.address
  for (const port of begin.ports) app.listeners.ports.add(port)
  app.listeners.opened('gateway')
  const op = systemOp({ ids, signal: new AbortController().signal })
  await followVault(op, { gates: link, vault: app })
  await app.start()
  links?.start()
  app.listeners.ready()
  opening.defer(async () => app.listeners.stopping())
  const closing = opening.move()
  return { gateway, [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose]() }
}

const run = async (begin: GateBegin, onReady: () => void): Promise<void> => {
  const { index, count } = begin
  const send = (envelope: Envelope) => post({ kind: 'envelope', envelope })
  const link = new GateLink({ index, count, send })
  let opened: Awaited<ReturnType<typeof openGate>> | null = null
  let ending = false
  const end = async (code: number): Promise<void> => {
    if (ending) return
    ending = true
    setTimeout(die, endMs).unref()
    await opened?.[Symbol.asyncDispose]()
    process.exitCode = code
    process.off('disconnect', die)
    // Nothing else keeps it.
    if (process.connected) process.disconnect()
  }
  process.on('message', (message: ToGate, socket?: Socket) => {
    if (message.kind === 'envelope') link.receive(message.envelope)
    else if (message.kind === 'lost') link.lost(message.index)
    else if (message.kind === 'stop') void end(0)
    else if (message.kind === 'connection' && socket) opened?.gateway.take(socket, message.head)
  })
  // The service was killed, and the next one wants this log: what was answered is in it.
  process.once('disconnect', die)
  try {
    opened = await openGate(begin, link)
    post({ kind: 'ready' })
    onReady()
  } catch (cause) {
    post({ kind: 'failed', ...sentFailure(cause) })
    await end(1)
  }
}

/** Serves as a gate process for the one that started this process, which says where and for how long. */
export const serveGate = (onReady: () => void = () => {}): void => {
  // A terminal sends its signals to all of them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.once(
    'message',
    ({ begin }: Extract<ToGate, { kind: 'begin' }>) => void run(begin, onReady),
  )
}
