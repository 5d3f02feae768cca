import { api, queryClient } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'

/** Cancels a write before it runs, where the person may. */
export const CancelWrite = ({ id }: { readonly id: string }) => {
  const act = useAct()
  const mayCancel = useMay('writes.cancel')
  const cancel = () =>
    void act.run(async () => {
      await api.cancelWrite({ id })
      await queryClient.invalidateQueries({
        predicate: ({ queryKey: [name] }) => name === 'listWrites' || name === 'showProxy',
      })
      announce(text.cancelled)
    })
  if (!mayCancel) return null
  return (
    <>
      <Button tone="danger" busy={act.busy} onClick={cancel}>
        {text.cancel}
      </Button>
      <Failure error={act.error} />
    </>
  )
}
