import type { BufferedWrite } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { announce } from '../../ui/toasts.tsx'

/** A write that failed: sent again or let go, after a look at what each means. */
export const DeadLetter = ({ write: { id, operation } }: { readonly write: BufferedWrite }) => {
  const [asked, setAsked] = useState<'retry' | 'discard' | null>(null)
  const submit = async () => {
    await (asked === 'retry' ? api.retryWrite({ id }) : api.discardWrite({ id }))
    await queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => name === 'listWrites' || name === 'showProxy',
    })
    announce(asked === 'retry' ? text.retried : text.discarded)
    setAsked(null)
  }
  return (
    <>
      <Button onClick={() => setAsked('retry')}>{text.retry}</Button>
      <Button tone="danger" onClick={() => setAsked('discard')}>
        {text.discard}
      </Button>
      {asked && (
        <FormDialog
          title={asked === 'retry' ? text.retryTitle(operation) : text.discardTitle(operation)}
          submit={asked === 'retry' ? text.retry : text.discard}
          danger
          onSubmit={submit}
          onClose={() => setAsked(null)}
        >
          <p>{asked === 'retry' ? text.retryIntro : text.discardIntro}</p>
        </FormDialog>
      )}
    </>
  )
}
