import type { ActivityEvent } from '@gatehouse/contract'
import { useEffect, useSyncExternalStore } from 'react'
import { queryClient } from '../api.ts'
import { createApplier } from './apply-messages.ts'
import type { LiveState } from './live-message.ts'
import { shareStreams } from './share-streams.ts'

type Hearer = (events: readonly ActivityEvent[]) => void

let state: LiveState = 'connecting'
const watchers = new Set<() => void>()
const hearers = new Set<Hearer>()
/** Events that a list of them keeps: memory stays flat however long the page is open. */
export const keptMax = 2_000
let recent: readonly ActivityEvent[] = []

const subscribe = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

/** Whether the page hears of what happens. */
export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, () => state)

/** Events that were heard last, the oldest first: an answer that was asked for before them does not have them. */
export const recentActivity = (): readonly ActivityEvent[] => recent

/** Calls `hear` with the events of the service as they come, in order. `hear` must stay the same. */
export function useActivity(hear: Hearer): void {
  useEffect(() => {
    hearers.add(hear)
    return () => {
      hearers.delete(hear)
    }
  }, [hear])
}

/** Listens while it is mounted: once, in the frame of the page. */
export function useLiveStreams(): void {
  useEffect(() => {
    const apply = createApplier(queryClient)
    const shared = shareStreams((messages) => {
      apply(messages)
      const events = messages.flatMap((message) =>
        message.kind === 'activity' ? [message.event] : [],
      )
      if (events.length > 0) {
        recent = [...recent, ...events].slice(-keptMax)
        for (const hear of hearers) hear(events)
      }
      for (const message of messages) if (message.kind === 'state') state = message.state
      // Something may be missing behind them now; lists are read anew once the page hears again.
      if (state !== 'live') recent = []
      for (const tell of watchers) tell()
    })
    return () => {
      shared[Symbol.dispose]()
      recent = []
      state = 'connecting'
    }
  }, [])
}
