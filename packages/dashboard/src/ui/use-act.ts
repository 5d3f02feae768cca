import { useRef, useState } from 'react'
import { fieldErrorsOf } from '../api.ts'

export type Act = {
  /** Runs the work once at a time. Resolves to whether it succeeded. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>
  readonly busy: boolean
  readonly error: unknown
  readonly fieldErrors: Readonly<Record<string, string>>
  readonly clear: () => void
}

/** Something a person sets off: busy while it runs, and what the service refused stays until the next try. */
export function useAct(): Act {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const running = useRef(false)
  return {
    busy,
    error,
    fieldErrors: fieldErrorsOf(error),
    clear: () => setError(null),
    run: async (work) => {
      if (running.current) return false
      running.current = true
      setBusy(true)
      setError(null)
      try {
        await work()
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        running.current = false
        setBusy(false)
      }
    },
  }
}
