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

const subscribe = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}

/** Whether the page hears of what happens. */
export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, () => state)

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
      if (events.length > 0) for (const hear of hearers) hear(events)
      for (const message of messages) if (message.kind === 'state') state = message.state
      for (const tell of watchers) tell()
    })
    return () => {
      shared[Symbol.dispose]()
      state = 'connecting'
    }
  }, [])
}
