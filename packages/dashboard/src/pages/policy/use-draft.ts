import { useSyncExternalStore } from 'react'

/** A text that is not saved yet, and the version of the file it began from. It outlives a change of the tab. */
export type Draft = {
  readonly agent: string
  readonly text: string
  readonly basis: string
  readonly version: string
}

let draft: Draft | null = null
const listeners = new Set<() => void>()

export function setDraft(next: Draft | null): void {
  draft = next
  for (const tell of listeners) tell()
}

const subscribe = (tell: () => void) => {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export const useDraft = (): Draft | null => useSyncExternalStore(subscribe, () => draft)

/** The draft as the service takes it; null where nothing is changed. */
export const draftBody = (
  given: Draft | null,
): { readonly text: string; readonly agent?: string } | null =>
  given === null || given.text === given.basis
    ? null
    : { text: given.text, ...(given.agent === '' ? {} : { agent: given.agent }) }
