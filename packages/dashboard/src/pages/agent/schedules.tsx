import type { Schedule } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { useMemo, useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { useMay } from '../../session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmName } from '../../ui/dialog.tsx'
import { Paged, useOffset } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'

const facts: readonly Column<Schedule>[] = [
  {
    id: 'call',
    header: text.capability,
    wide: true,
    cell: ({ capability, arguments: args, description }) => (
      <>
        <span className="font-medium">{capability}</span>
        <p className="mono text-ink-soft">
          <Visible text={describeCall(capability, args)} />
        </p>
        {description !== '' && (
          <p>
            <Visible text={description} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'schedule',
    header: text.schedule,
    cell: ({ schedule, time_zone }) =>
      schedule === null ? text.once : <span className="mono">{`${schedule} ${time_zone}`}</span>,
  },
  {
    id: 'status',
    header: text.statusHeader,
    cell: ({ status }) => (
      <Badge tone={status === 'active' ? 'good' : 'neutral'}>{text.scheduleStatus[status]}</Badge>
    ),
  },
  {
    id: 'next',
    header: text.nextRun,
    cell: ({ next_run_at }) => (next_run_at === null ? '–' : <Time at={next_run_at} />),
  },
]

const limit = 50

const DeleteDialog = ({
  schedule: { schedule_id: id, capability, arguments: args },
  onClose,
}: {
  readonly schedule: Schedule
  readonly onClose: () => void
}) => (
  <ConfirmName
    title={`${text.deleteSchedule}: ${capability}`}
    name={capability}
    submit={text.deleteSchedule}
    onClose={onClose}
    onConfirm={async () => {
      await api.deleteSchedule({ id })
      await queryClient.invalidateQueries({ queryKey: ['listSchedules'] })
      announce(text.deleted)
      onClose()
    }}
  >
    <p className="mono [overflow-wrap:anywhere]">
      <Visible text={describeCall(capability, args)} />
    </p>
    <p>{text.deleteIntro}</p>
  </ConfirmName>
)

/** Calls that the agent put off. */
export const Schedules = ({ agent }: { readonly agent: string }) => {
  const mayDelete = useMay('schedules.manage')
  const [deleting, setDeleting] = useState<Schedule | null>(null)
  const offset = useOffset()
  const columns = useMemo(
    () =>
      mayDelete
        ? [
            ...facts,
            {
              id: 'delete',
              header: '',
              cell: (schedule: Schedule) =>
                schedule.status === 'active' && (
                  <Button
                    tone="danger"
                    aria-label={`${text.deleteSchedule}: ${schedule.capability}`}
                    onClick={() => setDeleting(schedule)}
                  >
                    {text.deleteSchedule}
                  </Button>
                ),
            },
          ]
        : facts,
    [mayDelete],
  )
  return (
    <Loaded query={useRead('listSchedules', { agent, limit, offset })}>
      {({ schedules, total }) => (
        <>
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="clock" title={text.noSchedules}>
                {text.noSchedulesNext}
              </Empty>
            }
          >
            <DataTable
              caption={text.tabs.schedules}
              rows={schedules}
              columns={columns}
              keyOf={({ schedule_id }) => schedule_id}
            />
          </Paged>
          {deleting && <DeleteDialog schedule={deleting} onClose={() => setDeleting(null)} />}
        </>
      )}
    </Loaded>
  )
}
