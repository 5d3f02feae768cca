import type { RollbackPoint } from '@gatehouse/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, queryClient, read, useRead } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Filters, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Paged, usePagedFilters } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'

const tones: Readonly<Record<RollbackPoint['status'], BadgeTone>> = {
  ready: 'good',
  rolling_back: 'accent',
  rolled_back: 'neutral',
  refused: 'bad',
  expired: 'neutral',
}

const Lines = ({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <div>
      <h3 className="font-medium">{title}</h3>
      <ul className="list-disc pl-5">
        {lines.map((line) => (
          <li key={line} className="[overflow-wrap:anywhere]">
            <Visible text={line} />
          </li>
        ))}
      </ul>
    </div>
  )

/** Effects of going back, before it is done. */
export const RollbackDialog = ({
  id,
  onClose,
}: {
  readonly id: string
  readonly onClose: () => void
}) => {
  const preview = useRead('previewRollback', { id })
  const rollBack = async () => {
    await api.rollBack({ id })
    await queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => name === 'listWrites' || name === 'listRollbacks',
    })
    announce(text.rolledBack)
    onClose()
  }
  return (
    <FormDialog
      title={text.previewTitle}
      submit={text.rollBackNow}
      danger
      disabled={preview.data?.possible !== true}
      onSubmit={rollBack}
      onClose={onClose}
    >
      <Loaded query={preview}>
        {({ possible, steps, reason, differences }) => (
          <div className="grid gap-3">
            {!possible && (
              <Notice tone="warn">
                {text.notPossible} <Visible text={reason ?? ''} />
              </Notice>
            )}
            <Lines title={text.previewSteps} lines={steps} />
            <Lines title={text.previewDifferences} lines={differences} />
          </div>
        )}
      </Loaded>
    </FormDialog>
  )
}

const facts: readonly Column<RollbackPoint>[] = [
  {
    id: 'write',
    header: text.point,
    wide: true,
    cell: ({ operation, agent, service }) => (
      <>
        <span className="font-medium">{operation}</span>{' '}
        <span className="text-ink-soft">
          {agent} · {service}
        </span>
      </>
    ),
  },
  {
    id: 'status',
    header: text.state,
    cell: ({ status, error }) => (
      <>
        <Badge tone={tones[status]}>{text.rollbackStatus[status]}</Badge>
        {error && (
          <p className="text-[0.933rem] text-bad">
            <Visible text={error.message} />
          </p>
        )}
      </>
    ),
  },
  { id: 'made', header: text.made, cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'kept', header: text.keptUntil, cell: ({ expires_at }) => <Time at={expires_at} /> },
]

const limit = 50

export const Rollbacks = () => {
  const [{ range }, change, offset] = usePagedFilters({ range: 'all' })
  const list = useQuery({
    ...read('listRollbacks', { ...usePeriod(range), limit, offset }),
    placeholderData: keepPreviousData,
  })
  const [rolling, setRolling] = useState<string | null>(null)
  const mayManage = useMay('proxy.manage')
  const columns = useMemo(
    () =>
      mayManage
        ? [
            ...facts,
            {
              id: 'back',
              header: '',
              cell: ({ id, status }: RollbackPoint) =>
                (status === 'ready' || status === 'refused') && (
                  <Button icon="undo" className="whitespace-nowrap" onClick={() => setRolling(id)}>
                    {text.rollBack}
                  </Button>
                ),
            },
          ]
        : facts,
    [mayManage],
  )
  return (
    <>
      <Filters>
        <PeriodFilter value={range} onChange={(next) => change({ range: next })} />
      </Filters>
      <Loaded query={list}>
        {({ rollbacks, total }) => (
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="undo" title={text.noRollbacks}>
                {text.noRollbacksNext}
              </Empty>
            }
          >
            <DataTable
              caption={text.tabs.rollbacks}
              rows={rollbacks}
              columns={columns}
              keyOf={({ id }) => id}
            />
          </Paged>
        )}
      </Loaded>
      {rolling !== null && <RollbackDialog id={rolling} onClose={() => setRolling(null)} />}
    </>
  )
}
