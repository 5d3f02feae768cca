import type { PolicyProblem, PolicyVerdict } from '@gatehouse/contract'
import { useCallback, useRef, useState } from 'react'
import { api } from '../../api.ts'
import type { Place } from './drafts.ts'

export type Check =
  | { readonly kind: 'checking' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'checked'; readonly verdict: PolicyVerdict }

/** Check of a text by the service, its tests included; only the newest answer counts. */
export function useCheck({ file, agent }: Place): {
  readonly check: Check
  readonly begin: () => void
  readonly run: (text: string) => Promise<readonly PolicyProblem[]>
} {
  const [check, setCheck] = useState<Check>({ kind: 'checking' })
  const newest = useRef(0)
  const run = useCallback(
    async (text: string) => {
      newest.current += 1
      const turn = newest.current
      const set = (next: Check) => {
        if (turn === newest.current) setCheck(next)
      }
      try {
        const verdict = await api.validatePolicy({
          text,
          file,
          ...(agent === null ? {} : { agent }),
        })
        set({ kind: 'checked', verdict })
        return verdict.problems
      } catch (error) {
        set({ kind: 'failed', error })
        return []
      }
    },
    [file, agent],
  )
  const begin = useCallback(() => {
    newest.current += 1
    setCheck({ kind: 'checking' })
  }, [])
  return { check, begin, run }
}
