import type { Grant } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { useMemo } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Paged, useOffset } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Countdown } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'

const facts: readonly Column<Grant>[] = [
  {
    id: 'capability',
    header: text.capability,
    wide: true,
    cell: ({ capability, arguments: args }) => (
      <>
        <span className="font-medium">{capability}</span>
        {args !== null && (
          <p className="mono text-ink-soft">
            <Visible text={describeCall(capability, args)} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'agent',
    header: text.agent,
    cell: ({ agent }) => <span className="sm:whitespace-nowrap">{agent}</span>,
  },
  { id: 'match', header: text.allowMatch, cell: ({ match }) => text.grantMatch[match] },
  { id: 'used', header: text.grantUses, cell: ({ used, uses }) => text.usesOf(used, uses) },
  {
    id: 'ends',
    header: text.grantExpires,
    cell: ({ expires_at }) => <Countdown until={expires_at} over={text.expired} />,
  },
  { id: 'by', header: text.by, cell: ({ created_by }) => common.person(created_by) },
]

const limit = 50

/** Approvals that were remembered, and the way to end them. */
export const Grants = () => {
  const offset = useOffset()
  const act = useAct()
  const mayRevoke = useMay('approvals.decide')
  const { run, busy } = act
  const columns = useMemo(
    () =>
      mayRevoke
        ? [
            ...facts,
            {
              id: 'revoke',
              header: '',
              cell: ({ id, capability, agent }: Grant) => (
                <Button
                  tone="danger"
                  busy={busy}
                  aria-label={`${text.revoke}: ${capability}, ${agent}`}
                  onClick={() =>
                    void run(async () => {
                      await api.revokeGrant({ id })
                      await queryClient.invalidateQueries({ queryKey: ['listGrants'] })
                      announce(text.revoked)
                    })
                  }
                >
                  {text.revoke}
                </Button>
              ),
            },
          ]
        : facts,
    [mayRevoke, run, busy],
  )
  return (
    <Loaded query={useRead('listGrants', { limit, offset })}>
      {({ grants, total }) => (
        <div className="grid gap-3">
          <Failure error={act.error} />
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="approvals" title={text.noGrants}>
                {text.noGrantsNext}
              </Empty>
            }
          >
            <DataTable
              caption={text.tabs.grants}
              rows={grants}
              columns={columns}
              keyOf={({ id }) => id}
            />
          </Paged>
        </div>
      )}
    </Loaded>
  )
}
