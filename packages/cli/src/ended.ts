/** Aborts when the one who waits for this process ends it by a signal, or closes its output. */
export function endedBy(signal: AbortSignal): AbortSignal & Disposable {
  const ended = new AbortController()
  const end = () => ended.abort()
  const names = ['SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.once(name, end)
  signal.addEventListener('abort', end)
  return Object.assign(ended.signal, {
    [Symbol.dispose]() {
      for (const name of names) process.off(name, end)
      signal.removeEventListener('abort', end)
    },
  })
}
