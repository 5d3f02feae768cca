import type { Alert } from '@gatehouse/contract'
import { api, queryClient, useRead } from '../../api.ts'
import { alertsText as text } from '../../messages/alerts.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Filters } from '../../ui/filters.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'

const tones: Readonly<Record<Alert['severity'], BadgeTone>> = {
  info: 'accent',
  warning: 'warn',
  critical: 'bad',
}

const statuses = ['open', 'acknowledged', 'resolved', 'all'] as const

const AlertCard = ({ alert }: { readonly alert: Alert }) => {
  const mayAcknowledge = useMay('alerts.manage')
  const act = useAct()
  const acknowledge = () =>
    void act.run(async () => {
      await api.acknowledgeAlert({ id: alert.id })
      await queryClient.invalidateQueries({ queryKey: ['listAlerts'] })
      announce(text.acknowledged)
    })
  return (
    <li className="card grid gap-2 p-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <Badge tone={tones[alert.severity]}>{text.severity[alert.severity]}</Badge>
        <p className="min-w-52 grow font-medium [overflow-wrap:anywhere]">
          <Visible text={alert.message} />
        </p>
        {mayAcknowledge && alert.status === 'open' && (
          <Button busy={act.busy} onClick={acknowledge}>
            {text.acknowledge}
          </Button>
        )}
      </div>
      <p className="text-ink-soft">
        <Visible text={common.person(alert.source).replace(/^agent:/, '')} /> · {alert.kind} ·{' '}
        <Time at={alert.last_raised_at} />
        {alert.count > 1 && ` · ${text.times(alert.count)}`}
        {' · '}
        {text.status[alert.status]}
        {alert.acknowledged_by !== null && ` ${text.by(common.person(alert.acknowledged_by))}`}
      </p>
      {Object.keys(alert.context).length > 0 && (
        <details>
          <summary className="py-1 text-ink-soft">{text.context}</summary>
          <Json value={alert.context} label={text.context} />
        </details>
      )}
      <Failure error={act.error} />
    </li>
  )
}

export const AlertsPage = () => {
  const [{ status }, change] = useFilters({ status: 'open' })
  const chosen = statuses.find((one) => one === status) ?? 'open'
  return (
    <Page title={text.title}>
      <Filters>
        <SelectField
          label={text.filterStatus}
          value={chosen}
          onChange={({ target }) => change({ status: target.value })}
          options={statuses.map((value) => ({ value, text: text.choices[value] }))}
        />
      </Filters>
      <Loaded query={useRead('listAlerts', chosen === 'all' ? {} : { status: chosen })}>
        {({ alerts }) =>
          alerts.length === 0 ? (
            <Empty icon="alerts" title={text.none}>
              {text.noneNext}
            </Empty>
          ) : (
            <ul aria-label={text.caption} className="grid gap-3">
              {alerts.map((alert) => (
                <AlertCard key={alert.id} alert={alert} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}
