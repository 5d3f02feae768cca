import type { Alert, AlertKind, AlertMute } from '@gatehouse/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queryClient, read, useRead } from '../../api.ts'
import { alertsText as text } from '../../messages/alerts.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Filters, filtersSet, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Paged, usePagedFilters } from '../../ui/pager.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { Handling } from './handling.tsx'
import { MuteDialog } from './mute-dialog.tsx'

const tones: Readonly<Record<Alert['severity'], BadgeTone>> = {
  info: 'accent',
  warning: 'warn',
  critical: 'bad',
}

const severities = ['critical', 'warning', 'info'] as const
const statuses = ['open', 'acknowledged', 'resolved', 'all'] as const

const isMuted = ({ kind, source }: Alert, mutes: readonly AlertMute[]): boolean =>
  mutes.some(
    (mute) => mute.kind === kind && (mute.agent === null || source === `agent:${mute.agent}`),
  )

const AlertCard = ({
  alert,
  mutes,
}: {
  readonly alert: Alert
  readonly mutes: readonly AlertMute[]
}) => {
  const [muting, setMuting] = useState(false)
  const kind = alert.kind in text.kinds ? (alert.kind as AlertKind) : null
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
        {isMuted(alert, mutes) ? (
          <Badge tone="neutral">{text.isMuted}</Badge>
        ) : (
          mayAcknowledge && kind && <Button onClick={() => setMuting(true)}>{text.mute}</Button>
        )}
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
      {muting && kind && (
        <MuteDialog
          kind={kind}
          agent={kind === 'agent' ? alert.source.replace(/^agent:/, '') : null}
          onClose={() => setMuting(false)}
        />
      )}
    </li>
  )
}

const limit = 50

const none = { status: 'open', severity: '', range: 'all' }

const List = () => {
  const [filters, change, offset] = usePagedFilters(none)
  const chosen = statuses.find((one) => one === filters.status) ?? 'open'
  const severity = severities.find((one) => one === filters.severity)
  const list = useQuery({
    ...read('listAlerts', {
      ...(chosen === 'all' ? {} : { status: chosen }),
      ...(severity ? { severity } : {}),
      ...usePeriod(filters.range),
      limit,
      offset,
    }),
    placeholderData: keepPreviousData,
  })
  const mutes = useRead('showAlertHandling').data?.mutes ?? []
  return (
    <>
      <Filters set={filtersSet(filters, none)}>
        <SelectField
          label={text.filterStatus}
          value={chosen}
          onChange={({ target }) => change({ status: target.value })}
          options={statuses.map((value) => ({ value, text: text.choices[value] }))}
        />
        <SelectField
          label={text.filterSeverity}
          value={severity ?? ''}
          onChange={({ target }) => change({ severity: target.value })}
          options={[
            { value: '', text: common.any },
            ...severities.map((value) => ({ value, text: text.severity[value] })),
          ]}
        />
        <PeriodFilter value={filters.range} onChange={(range) => change({ range })} />
      </Filters>
      <Loaded query={list}>
        {({ alerts, total }) => (
          <Paged
            limit={limit}
            total={total}
            empty={
              <Empty icon="alerts" title={text.none}>
                {text.noneNext}
              </Empty>
            }
          >
            <ul aria-label={text.caption} className="grid gap-3">
              {alerts.map((alert) => (
                <AlertCard key={alert.id} alert={alert} mutes={mutes} />
              ))}
            </ul>
          </Paged>
        )}
      </Loaded>
    </>
  )
}

export const AlertsPage = () => {
  const [{ tab }, , open] = useFilters({ tab: 'alerts' })
  return (
    <Page title={text.title}>
      <Tabs
        label={text.tabsLabel}
        value={tab}
        onChange={(next) => open({ tab: next })}
        tabs={[
          { value: 'alerts', text: text.tabs.alerts },
          { value: 'handling', text: text.tabs.handling },
        ]}
      >
        <TabPanel value="alerts">
          <List />
        </TabPanel>
        <TabPanel value="handling">
          <Handling />
        </TabPanel>
      </Tabs>
    </Page>
  )
}
