import type { BufferedWrite } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmName, FormDialog } from '../../ui/dialog.tsx'
import { announce } from '../../ui/toasts.tsx'

/** A write that failed: sent again, or let go once its operation was typed, for it is not sent any more. */
export const DeadLetter = ({ write: { id, operation } }: { readonly write: BufferedWrite }) => {
  const [asked, setAsked] = useState<'retry' | 'discard' | null>(null)
  const close = () => setAsked(null)
  const submit = async () => {
    await (asked === 'retry' ? api.retryWrite({ id }) : api.discardWrite({ id }))
    await queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => name === 'listWrites' || name === 'showProxy',
    })
    announce(asked === 'retry' ? text.retried : text.discarded)
    close()
  }
  return (
    <>
      <Button onClick={() => setAsked('retry')}>{text.retry}</Button>
      <Button tone="danger" onClick={() => setAsked('discard')}>
        {text.discard}
      </Button>
      {asked === 'retry' && (
        <FormDialog
          title={text.retryTitle(operation)}
          submit={text.retry}
          danger
          onSubmit={submit}
          onClose={close}
        >
          <p>{text.retryIntro}</p>
        </FormDialog>
      )}
      {asked === 'discard' && (
        <ConfirmName
          title={text.discardTitle(operation)}
          name={operation}
          submit={text.discard}
          onConfirm={submit}
          onClose={close}
        >
          {text.discardIntro}
        </ConfirmName>
      )}
    </>
  )
}
