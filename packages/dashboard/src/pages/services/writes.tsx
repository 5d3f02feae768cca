import type { BufferedWrite } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { servicesText as text } from '../../messages/services.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { SelectField } from '../../ui/field.tsx'
import { AgentFilter, Filters, filtersSet, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { Paged, usePagedFilters } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { CancelWrite } from './cancel-write.tsx'
import { DeadLetter } from './dead-letter.tsx'
import { RollbackDialog } from './rollbacks.tsx'

const tones: Readonly<Record<BufferedWrite['status'], BadgeTone>> = {
  buffered: 'warn',
  executing: 'accent',
  executed: 'good',
  cancelled: 'neutral',
  failed: 'bad',
}

const Times = ({ write }: { readonly write: BufferedWrite }) => {
  if (write.status === 'buffered')
    return (
      <span className="font-medium">
        {text.runsIn} <Countdown until={write.execute_at} over={text.now} />
      </span>
    )
  return (
    <span className="text-ink-soft">
      {write.finished_at !== null && <Time at={write.finished_at} />}
      {write.ended_by !== null && ` ${text.by(common.person(write.ended_by))}`}
    </span>
  )
}

/** A change that an agent asked for: cancelled while it waits, rolled back afterwards where that can be. */
const WriteCard = ({ write }: { readonly write: BufferedWrite }) => {
  const { id, operation, agent, service, status, error, files, undo_note, rollback_id } = write
  const { subject } = write.arguments
  const mayManage = useMay('proxy.manage')
  const [rolling, setRolling] = useState(false)
  return (
    <li className="card grid grid-cols-1 gap-2 p-4" data-write={id}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Badge tone={tones[status]}>{text.writeStatus[status]}</Badge>
        <p className="min-w-0 grow [overflow-wrap:anywhere]">
          <strong>{agent}</strong> <span className="text-ink-soft">{text.asked}</span>{' '}
          <strong>{operation}</strong> <span className="text-ink-soft">({service})</span>
        </p>
        <Times write={write} />
        {status === 'buffered' && <CancelWrite id={id} />}
        {write.dead_letter && mayManage && <DeadLetter write={write} />}
        {rollback_id !== null && write.rollback_status === 'ready' && mayManage && (
          <Button icon="undo" onClick={() => setRolling(true)}>
            {text.rollBack}
          </Button>
        )}
      </div>
      {typeof subject === 'string' && (
        <p className="[overflow-wrap:anywhere]">
          “<Visible text={subject} />”
        </p>
      )}
      <p className="mono [overflow-wrap:anywhere]">
        <Visible text={describeCall('write', { ...write.arguments, operation, service })} />{' '}
        {files.length > 0 && (
          <Visible text={text.files(files.map(({ name }) => name).join(', '))} />
        )}
      </p>
      {error && (
        <p className="text-bad">
          <Visible text={error.message} />
        </p>
      )}
      <p className="text-[0.933rem] text-ink-soft">
        {undo_note}
        {write.undo_until !== null && (
          <>
            {' '}
            {text.undoUntil} <Time at={write.undo_until} />.
          </>
        )}
      </p>
      <details>
        <summary className="py-1 text-ink-soft">{common.details}</summary>
        <Json value={{ arguments: write.arguments, result: write.result }} label={common.details} />
      </details>
      {rolling && rollback_id !== null && (
        <RollbackDialog id={rollback_id} onClose={() => setRolling(false)} />
      )}
    </li>
  )
}

const statuses = ['pending', 'dead', 'executed', 'cancelled', 'failed', 'all'] as const
const limit = 50

const none = { agent: '', status: 'pending', range: 'all' }

export const Writes = () => {
  const [filters, change, offset] = usePagedFilters(none)
  const { agent, status, range } = filters
  const period = usePeriod(range)
  const chosen = statuses.find((one) => one === status) ?? 'pending'
  const list = useQuery({
    ...read('listWrites', {
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
          options={statuses.map((value) => ({ value, text: text.writesStatus[value] }))}
        />
        <PeriodFilter value={range} onChange={(next) => change({ range: next })} />
      </Filters>
      <Loaded query={list}>
        {({ writes, total }) => (
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="services" title={text.noWrites}>
                {text.noWritesNext}
              </Empty>
            }
          >
            <ul aria-label={text.tabs.writes} className="grid gap-3">
              {writes.map((write) => (
                <WriteCard key={write.id} write={write} />
              ))}
            </ul>
          </Paged>
        )}
      </Loaded>
    </>
  )
}
