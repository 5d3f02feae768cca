import { type ReactNode, useState } from 'react'
import { api } from '../api.ts'
import { shellText } from '../messages/shell.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { announce } from '../ui/toasts.tsx'

/** Pausing everything asks first; resuming does not. */
export function usePauseAll(): {
  readonly ask: () => void
  readonly resume: () => void
  readonly dialog: ReactNode
} {
  const [asking, setAsking] = useState(false)
  const resume = () =>
    void api.resumeAll().then(
      ({ count }) => announce(shellText.resumedAll(count)),
      (error: Error) => announce(error.message),
    )
  const pause = async () => {
    const { count } = await api.pauseAll()
    setAsking(false)
    announce(shellText.pausedAll(count))
  }
  return {
    ask: () => setAsking(true),
    resume,
    dialog: asking && (
      <FormDialog
        title={shellText.pauseAllTitle}
        submit={shellText.pauseAll}
        danger
        onSubmit={pause}
        onClose={() => setAsking(false)}
      >
        <p>{shellText.pauseAllIntro}</p>
      </FormDialog>
    ),
  }
}
