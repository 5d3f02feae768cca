import type { Manifest } from './pack.ts'
import { headLength } from './pack.ts'
import { refuse } from './unseal.ts'

export type Sink = {
  open(path: string, size: number): Promise<void>
  write(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

const headBytesMax = 16_384
const filesMax = 5_000_000
const roots = [
  'gatehouse.db',
  'gatehouse.yaml',
  'node-id',
  'store.json',
  'cli-token',
  'vault.key',
  'policy.key',
] as const
const folders = ['audit', 'policies', 'tls', 'secrets', 'workspaces', 'gates'] as const

/**
 * @SECURITY A name leads to where we put it and nowhere else: known places only, no way up, nothing that
 * stands twice. There are no links, devices or modes in the format; restore.test.ts.
 */
export function assertPath(path: unknown): asserts path is string {
  if (typeof path !== 'string' || path.length > 4_096 || /[\0\\]/.test(path))
    return refuse('it names a file in no way that a backup does')
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return refuse(`it holds the name ${JSON.stringify(path)}, which leads elsewhere`)
  const [first = ''] = parts
  const known =
    parts.length === 1
      ? (roots as readonly string[]).includes(first)
      : (folders as readonly string[]).includes(first)
  if (!known) refuse(`it holds ${JSON.stringify(path)}, which is no part of a backup`)
}

type Head = { manifest?: Manifest; path?: unknown; size?: unknown; end?: unknown }

/** Reads what `pack` laid out. Whatever is not as it must be refuses the whole. */
export async function unpack(
  plain: AsyncIterable<Buffer>,
  sink: Sink,
): Promise<{ readonly manifest: Manifest; readonly files: number }> {
  let held: Buffer = Buffer.alloc(0)
  const source = plain[Symbol.asyncIterator]()
  const more = async (): Promise<boolean> => {
    const next = await source.next()
    if (next.done) return false
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
    return true
  }
  const take = async (size: number): Promise<Buffer> => {
    while (held.length < size) if (!(await more())) return refuse('it ends too early')
    const taken = held.subarray(0, size)
    held = held.subarray(size)
    return taken
  }
  const readHead = async (): Promise<Head> => {
    const length = (await take(headLength)).readUInt32BE()
    if (length > headBytesMax) return refuse('its inner form is damaged')
    try {
      return JSON.parse((await take(length)).toString()) as Head
    } catch {
      return refuse('its inner form is damaged')
    }
  }
  const copy = async (size: number): Promise<void> => {
    for (let left = size; left > 0; ) {
      if (held.length === 0 && !(await more())) return refuse('it ends too early')
      const taken = await take(Math.min(left, held.length))
      await sink.write(taken)
      left -= taken.length
    }
  }

  const { manifest } = await readHead()
  if (typeof manifest !== 'object' || manifest === null) return refuse('it does not say what it is')
  const seen = new Set<string>()
  for (;;) {
    const { path, size, end } = await readHead()
    if (end !== undefined) {
      if (end !== seen.size || held.length > 0 || (await more()))
        return refuse('its inner form is damaged')
      return { manifest, files: seen.size }
    }
    assertPath(path)
    // Two names that differ in case alone are one file on some disks.
    const key = path.startsWith('workspaces/') ? path : path.toLowerCase()
    if (seen.has(key)) return refuse(`it holds ${JSON.stringify(path)} twice`)
    if (seen.size >= filesMax) return refuse('it holds too many files')
    if (!Number.isSafeInteger(size) || (size as number) < 0)
      return refuse('its inner form is damaged')
    seen.add(key)
    await sink.open(path, size as number)
    await copy(size as number)
    await sink.close()
  }
}
