import type { PolicyView } from '@gatehouse/contract'
import { skipToken, useQuery } from '@tanstack/react-query'
import { queryClient } from '../../api.ts'
import { draftAfterSave } from './draft-after-save.ts'

export type PolicyFileView = PolicyView['files'][number]

/** A policy file that people write: of the organisation, or of an agent. Its place is the same before it exists. */
export type Place = { readonly file: string; readonly agent: string | null }

export const placeOf = (agent: string): Place =>
  agent === ''
    ? { file: 'organisation.yaml', agent: null }
    : { file: `agents/${agent}.yaml`, agent }

/** Text that was typed and not saved, and the version of the file from which it began. */
export type Draft = Place & { readonly text: string; readonly version: string }

type Drafts = Readonly<Record<string, Draft>>

/** Drafts stand with what was read: another person who logs in finds none of them. */
const key = ['policyDrafts']
queryClient.setQueryDefaults(key, { gcTime: Infinity, staleTime: Infinity })

export const useDrafts = (): Drafts =>
  useQuery<Drafts>({ queryKey: key, queryFn: skipToken }).data ?? {}

const change = (make: (drafts: Drafts) => Drafts): void =>
  void queryClient.setQueryData<Drafts>(key, (drafts) => make(drafts ?? {}))

export const keepDraft = (draft: Draft): void =>
  change((drafts) => ({ ...drafts, [draft.file]: draft }))

export const dropDraft = (file: string): void =>
  change((drafts) => Object.fromEntries(Object.entries(drafts).filter(([name]) => name !== file)))

const saving = new Set<Draft>()

/** Whether a draft of a file is being saved. Another text is about to stand: to type back to the one before is no end. */
export const isBeingSaved = (file: string): boolean =>
  [...saving].some((draft) => draft.file === file)

/** Saves a draft. It is one until then, also where nothing was typed: what is typed meanwhile takes its place. */
export async function whileSaving(draft: Draft, save: () => Promise<void>): Promise<void> {
  if (!queryClient.getQueryData<Drafts>(key)?.[draft.file]) keepDraft(draft)
  saving.add(draft)
  try {
    await save()
  } finally {
    saving.delete(draft)
  }
}

/** Drops a draft that was saved, unless typing went on meanwhile: the dialog of a save can be closed before its end. */
export const dropSaved = (saved: Draft, version: string): void => {
  const { file } = saved
  const next = draftAfterSave(queryClient.getQueryData<Drafts>(key)?.[file], saved, version)
  if (next) keepDraft(next)
  else dropDraft(file)
}

/** The draft as the simulator and the replay take it. */
export const draftInput = ({
  text,
  agent,
}: Pick<Draft, 'text' | 'agent'>): { text: string; agent?: string } => ({
  text,
  ...(agent === null ? {} : { agent }),
})

// Drafts go with the page; the browser asks first.
addEventListener('beforeunload', (event) => {
  const drafts = queryClient.getQueryData<Drafts>(key)
  if (drafts && Object.keys(drafts).length > 0) event.preventDefault()
})
