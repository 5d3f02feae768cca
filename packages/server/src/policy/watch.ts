import { watch } from 'chokidar'
import type { Log } from '../ports/log.ts'

const debounceMs = 100
const debounceMaxMs = 500
const pollMs = 750

/**
 * Calls `look` soon after files in the folder change and fall quiet. The system's notices are what is
 * quick; a poll with `changed` makes up for those that never come (network folders, exhausted watches).
 */
export const watchPolicy = async (
  directory: string,
  changed: () => Promise<boolean>,
  look: () => Promise<void>,
  log: Log,
): Promise<AsyncDisposable> => {
  let timer: NodeJS.Timeout | null = null
  let firstMs: number | null = null
  let closed = false

  const run = () => {
    timer = null
    firstMs = null
    if (closed) return
    look().catch((error: unknown) => log.error({ error }, 'policy files could not be read'))
  }
  const soon = () => {
    if (closed) return
    const nowMs = performance.now()
    firstMs ??= nowMs
    if (timer) clearTimeout(timer)
    const leftMs = Math.max(0, firstMs + debounceMaxMs - nowMs)
    timer = setTimeout(run, Math.min(debounceMs, leftMs))
    timer.unref()
  }

  const watcher = watch(directory, {
    ignoreInitial: true,
    depth: 1,
    persistent: false,
    ignored: (path) => path.slice(directory.length).includes('/.'),
  })
  watcher.on('all', soon)
  watcher.on('error', (error) => log.warn({ error }, 'policy files are polled, not watched'))

  // Before it is ready it takes a new file for one that was there all along.
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve)
    watcher.once('error', () => resolve())
  })

  // A folder of thousands of files takes long to look through, and is then looked at less often.
  const pollAfter = (ms: number): NodeJS.Timeout => setTimeout(() => void pollOnce(), ms).unref()
  const pollOnce = async () => {
    const startMs = performance.now()
    try {
      if (!timer && (await changed())) soon()
    } catch (error) {
      log.warn({ error }, 'policy files could not be looked at')
    }
    if (!closed) poll = pollAfter(Math.max(pollMs, 20 * (performance.now() - startMs)))
  }
  let poll = pollAfter(pollMs)

  return {
    async [Symbol.asyncDispose]() {
      closed = true
      clearTimeout(poll)
      if (timer) clearTimeout(timer)
      await watcher.close()
    },
  }
}
