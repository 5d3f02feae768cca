import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { common } from '../../messages/common.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { AgentFilter, Filters, filtersSet, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { Paged, usePagedFilters } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { States } from './outcome.tsx'

const statuses = ['decided', 'approved', 'rejected', 'expired', 'cancelled'] as const
const limit = 50

const columns: readonly Column<Approval>[] = [
  {
    id: 'request',
    header: text.request,
    wide: true,
    cell: ({ id, agent, capability, effective_arguments }) => (
      <>
        <Link to="/approvals/$id" params={{ id }} className="font-medium underline">
          {capability}
        </Link>{' '}
        <span className="text-ink-soft">{agent}</span>
        <p className="mono line-clamp-2 text-ink-soft">
          <Visible text={describeCall(capability, effective_arguments)} />
        </p>
      </>
    ),
  },
  { id: 'state', header: text.state, cell: (approval) => <States approval={approval} /> },
  {
    id: 'by',
    header: text.by,
    cell: ({ decided_by }) => (decided_by === null ? '–' : common.person(decided_by)),
  },
  {
    id: 'when',
    header: text.when,
    cell: ({ decided_at, requested_at }) => <Time at={decided_at ?? requested_at} />,
  },
]

const none = { agent: '', status: 'decided', range: 'all' }

/** Decided requests, newest first, with what became of them. */
export const Decided = () => {
  const [filters, change, offset] = usePagedFilters(none)
  const { agent, status, range } = filters
  const period = usePeriod(range)
  const chosen = statuses.find((one) => one === status) ?? 'decided'
  const list = useQuery({
    ...read('listApprovals', {
      status: chosen,
      limit,
      offset,
      ...period,
      ...(agent === '' ? {} : { agent }),
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <Filters set={filtersSet(filters, none)}>
        <AgentFilter value={agent} onChange={(next) => change({ agent: next })} />
        <SelectField
          label={text.filterStatus}
          value={chosen}
          onChange={({ target }) => change({ status: target.value })}
          options={statuses.map((value) => ({
            value,
            text: value === 'decided' ? text.anyStatus : text.status[value],
          }))}
        />
        <PeriodFilter value={range} onChange={(next) => change({ range: next })} />
      </Filters>
      <Loaded query={list}>
        {({ approvals, total }) => (
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="approvals" title={text.nothingDecided}>
                {text.nothingDecidedNext}
              </Empty>
            }
          >
            <DataTable
              caption={text.tabs.decided}
              rows={approvals}
              columns={columns}
              keyOf={({ id }) => id}
            />
          </Paged>
        )}
      </Loaded>
    </>
  )
}
