import type { PolicyReplayLine } from '@gatehouse/contract'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api.ts'
import { type Draft, draftInput } from './drafts.ts'

export type ReplayResult = Extract<PolicyReplayLine, { kind: 'result' }>

export type ReplayState =
  | { readonly kind: 'idle' | 'cancelled' }
  | { readonly kind: 'running'; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly result: ReplayResult }
  | { readonly kind: 'failed'; readonly error: unknown }

/** A replay that runs: its lines become the state, until it ends or is cancelled. Leaving cancels it. */
export function useReplay(): {
  readonly state: ReplayState
  readonly start: (draft: Draft, days: number) => Promise<void>
  readonly cancel: () => void
} {
  const [state, setState] = useState<ReplayState>({ kind: 'idle' })
  const running = useRef<{ cancelled: boolean } | null>(null)
  const stop = () => {
    if (running.current) running.current.cancelled = true
    running.current = null
  }
  useEffect(() => stop, [])
  const start = async (draft: Draft, days: number) => {
    stop()
    const mine = { cancelled: false }
    running.current = mine
    const set = (next: ReplayState) => {
      if (!mine.cancelled) setState(next)
    }
    set({ kind: 'running', done: 0, total: 0 })
    try {
      for await (const text of api.replayPolicy({ draft: draftInput(draft), days })) {
        // Leaving the loop closes the connection, which ends the replay.
        if (mine.cancelled) break
        const line = JSON.parse(text) as PolicyReplayLine
        if (line.kind === 'progress') set({ kind: 'running', done: line.done, total: line.total })
        else set({ kind: 'done', result: line })
      }
    } catch (error) {
      set({ kind: 'failed', error })
    }
  }
  return {
    state,
    start,
    cancel: () => {
      stop()
      setState({ kind: 'cancelled' })
    },
  }
}
