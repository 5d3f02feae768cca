import type { SandboxChild, SandboxResult, SandboxRun } from '../ports/sandbox.ts'

/** From the deadline to the end of everything inside. */
const graceMs = 1_000

type Kept = { readonly bytes: Uint8Array; readonly dropped: boolean }

/** Reads to the end, whatever there is, and keeps the beginning. */
const keep = async (stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Kept> => {
  const chunks: Uint8Array[] = []
  let size = 0
  let dropped = false
  for await (const chunk of stream) {
    const room = bytesMax - size
    if (chunk.length > room) dropped = true
    if (room <= 0) continue
    chunks.push(chunk.length > room ? chunk.slice(0, room) : chunk)
    size += Math.min(chunk.length, room)
  }
  return { bytes: Buffer.concat(chunks), dropped }
}

/** Feeds a child, reads it to the end and sees that it ends in time. */
export const runInSandbox = async (
  start: () => Promise<SandboxChild>,
  run: SandboxRun,
  signal: AbortSignal,
): Promise<SandboxResult> => {
  signal.throwIfAborted()
  const child = await start()
  let timed_out = false
  const onAbort = () => void child.end(graceMs)
  const deadline = setTimeout(() => {
    timed_out = true
    void child.end(graceMs)
  }, run.timeout_ms)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    const fed = run.stdin === undefined ? null : child.stdin.write(run.stdin)
    void fed?.then(() => child.stdin.end())
    if (fed === null) child.stdin.end()
    const [stdout, stderr, exit] = await Promise.all([
      keep(child.stdout, run.max_output_bytes),
      keep(child.stderr, run.max_output_bytes),
      child.exited,
    ])
    signal.throwIfAborted()
    return {
      ...exit,
      backend: child.backend,
      stdout: stdout.bytes,
      stderr: stderr.bytes,
      truncated: stdout.dropped || stderr.dropped,
      timed_out,
    }
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', onAbort)
  }
}
