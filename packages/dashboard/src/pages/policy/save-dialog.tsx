import { useState } from 'react'
import { api, codeOf, currentOf, queryClient } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Diff } from '../../ui/code.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { fileDiff } from '../../ui/line-diff.ts'
import { Notice } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { type Draft, dropSaved, whileSaving } from './drafts.ts'

/** The file as the service has it; the version of one that is not there is `none`. */
export type Standing = { readonly text: string; readonly version: string }

export const noFile: Standing = { text: '', version: 'none' }

const save = ({ agent, text: typed }: Draft, version: string) => {
  const input = { text: typed, if_match: version }
  return agent === null
    ? api.saveOrganisationPolicy(input)
    : api.saveAgentPolicy({ ...input, name: agent })
}

/**
 * Shows what a save changes, then saves. Only the version whose difference is shown is replaced: if the file is
 * another by then, the difference to that one is shown, and the person decides again.
 */
export const SaveDialog = ({
  draft,
  standing,
  onClose,
}: {
  readonly draft: Draft
  readonly standing: Standing
  readonly onClose: () => void
}) => {
  const [seen, setSeen] = useState(standing)
  const [mine] = useState(draft)
  const { file } = mine
  const isConflict = seen.version !== mine.version
  const changes = fileDiff(seen.text, mine.text)
  /** The text before comes back, unless somebody has saved another since; a file that was not there stays. */
  const undo = (version: string) => async () => {
    await save({ ...mine, text: seen.text }, version)
    await queryClient.invalidateQueries({ queryKey: ['showPolicies'] })
  }
  const submit = async () => {
    let saved: string
    try {
      saved = (await save(mine, seen.version)).file_version
    } catch (error) {
      if (codeOf(error) !== 'PolicyChanged') throw error
      // The refusal carries the file as it is now.
      setSeen(currentOf(error) as Standing)
      void queryClient.invalidateQueries({ queryKey: ['showPolicies'] })
      return
    }
    // The file is read first, so that the editor goes on with the text that it has.
    await queryClient.invalidateQueries({ queryKey: ['showPolicies'] })
    dropSaved(mine, saved)
    announce(text.savedSaid(file), seen.version === noFile.version ? undefined : undo(saved))
    onClose()
  }
  return (
    <FormDialog
      title={text.saveTitle(file)}
      submit={isConflict ? text.saveOver : text.saveSubmit}
      danger={isConflict}
      wide
      onSubmit={() => whileSaving(mine, submit)}
      onClose={onClose}
    >
      {isConflict ? (
        <Notice tone="warn" role="alert">
          {text.conflict}
        </Notice>
      ) : (
        <p>{seen.version === noFile.version ? text.noFileBefore : text.whatChanges}</p>
      )}
      {changes === '' ? (
        <p>{text.same}</p>
      ) : (
        <Diff text={changes} label={isConflict ? text.differenceTheirs : text.difference} />
      )}
    </FormDialog>
  )
}
