import { Buffer } from 'node:buffer'
import type { Duplex } from 'node:stream'

/** Order for the launcher inside, before it starts the program. See order.pl among the launchers. */
export type LaunchOrder = {
  readonly folder: string
  readonly limits: Readonly<Record<number, number>>
  /** Folders where a program named without a slash is looked for. */
  readonly searched: readonly string[]
  /** Relay to the proxy; null where there is no network at all. */
  readonly relay: { readonly port: number; readonly socket: string } | null
  readonly mounts: readonly {
    readonly target: string
    readonly device: string
    readonly inode: string
  }[]
  readonly environment: Readonly<Record<string, string>>
  readonly program: string
  readonly args: readonly string[]
}

export type LaunchReport =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly what: string; readonly errno: number }
  | {
      readonly kind: 'ended'
      readonly code: number
      readonly signal: number
      readonly cpu_ms: number
      readonly memory_bytes_max: number
    }

const prefixed = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** As channel.pl takes them. */
export const encodeStrings = (strings: readonly string[]): Buffer =>
  prefixed(Buffer.concat(strings.map((text) => prefixed(Buffer.from(text)))))

export const encodeOrder = (order: LaunchOrder): Buffer => {
  const environment = Object.entries(order.environment)
  const strings = [
    order.folder,
    Object.entries(order.limits)
      .map(([which, value]) => `${which}=${value}`)
      .join(','),
    String(order.relay?.port ?? ''),
    order.relay?.socket ?? '',
    String(order.searched.length),
    ...order.searched,
    String(order.mounts.length),
    ...order.mounts.flatMap(({ target, device, inode }) => [target, device, inode]),
    String(environment.length),
    ...environment.flat(),
    order.program,
    ...order.args,
  ]
  return encodeStrings(strings)
}

const parseReport = (line: string): LaunchReport | null => {
  const [kind, ...rest] = line.split(' ')
  if (kind === 'started') return { kind }
  if (kind === 'failed') return { kind, what: rest[0] ?? '', errno: Number(rest[1]) }
  const [code = 0, signal = 0, cpu_ms = 0, memory_bytes_max = 0] = rest.map(Number)
  return kind === 'ended' ? { kind, code, signal, cpu_ms, memory_bytes_max } : null
}

/** The line to the launcher inside, which ends everything when it is cut. */
export class Channel {
  readonly #stream: Duplex
  readonly closed: Promise<void>

  constructor(stream: Duplex, onReport: (report: LaunchReport) => void) {
    this.#stream = stream
    let left = ''
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      const lines = (left + text).split('\n')
      // Longer than any line of ours: not ours.
      left = (lines.pop() ?? '').slice(0, 256)
      for (const line of lines) {
        const report = parseReport(line)
        if (report) onReport(report)
      }
    })
    this.closed = new Promise((resolve) => {
      stream.once('close', () => resolve())
      stream.on('error', () => {})
    })
  }

  order(order: LaunchOrder): void {
    this.#stream.write(encodeOrder(order))
  }

  say(line: string): void {
    if (this.#stream.writable) this.#stream.write(`${line}\n`)
  }

  cut(): void {
    this.#stream.destroy()
  }
}
