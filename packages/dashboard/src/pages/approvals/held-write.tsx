import { Link } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { Notice } from '../../ui/notice.tsx'
import { Countdown } from '../../ui/time.tsx'
import { CancelWrite } from '../services/cancel-write.tsx'

/** Many more never wait at a time. */
const limit = 200

/** A change that its call has only put in line: until it runs it can be cancelled where it was approved. */
export const HeldWrite = ({ id }: { readonly id: string }) => {
  const writes = useRead('listWrites', { status: 'pending', limit }).data?.writes
  const held = writes?.find((write) => write.id === id && write.status === 'buffered')
  if (held)
    return (
      <Notice tone="warn">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="grow">
            {text.heldUntil} <Countdown until={held.execute_at} over={text.heldOver} />
          </p>
          <CancelWrite id={id} />
        </div>
      </Notice>
    )
  return (
    writes && (
      <p>
        <Link to="/services" search={{ tab: 'writes', status: 'all' }} className="underline">
          {text.heldEnded}
        </Link>
      </p>
    )
  )
}
