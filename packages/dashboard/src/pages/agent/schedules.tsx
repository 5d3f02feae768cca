import type { Schedule } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { useMemo } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { useMay } from '../../session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
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

/** Calls that the agent put off. */
export const Schedules = ({ agent }: { readonly agent: string }) => {
  const mayDelete = useMay('schedules.manage')
  const act = useAct()
  const { run, busy } = act
  const columns = useMemo(
    () =>
      mayDelete
        ? [
            ...facts,
            {
              id: 'delete',
              header: '',
              cell: ({ schedule_id: id, capability, status }: Schedule) =>
                status === 'active' && (
                  <Button
                    tone="danger"
                    busy={busy}
                    aria-label={`${text.deleteSchedule}: ${capability}`}
                    onClick={() =>
                      void run(async () => {
                        await api.deleteSchedule({ id })
                        await queryClient.invalidateQueries({ queryKey: ['listSchedules'] })
                        announce(text.deleted)
                      })
                    }
                  >
                    {text.deleteSchedule}
                  </Button>
                ),
            },
          ]
        : facts,
    [mayDelete, run, busy],
  )
  return (
    <Loaded query={useRead('listSchedules', { agent })}>
      {({ schedules }) => (
        <>
          <Failure error={act.error} />
          {schedules.length === 0 ? (
            <Empty icon="clock" title={text.noSchedules}>
              {text.noSchedulesNext}
            </Empty>
          ) : (
            <DataTable
              caption={text.tabs.schedules}
              rows={schedules}
              columns={columns}
              keyOf={({ schedule_id }) => schedule_id}
            />
          )}
        </>
      )}
    </Loaded>
  )
}
