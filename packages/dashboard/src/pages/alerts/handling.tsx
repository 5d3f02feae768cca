import type { AlertHandling, AlertKind, AlertMute, NotificationTarget } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { alertsText as text } from '../../messages/alerts.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField } from '../../ui/field.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { MuteDialog } from './mute-dialog.tsx'

const take = (handling: AlertHandling): void => {
  queryClient.setQueryData(['showAlertHandling', {}], handling)
}

const RouteDialog = ({
  kind,
  chosen,
  targets,
  onClose,
}: {
  readonly kind: AlertKind
  readonly chosen: readonly string[] | null
  readonly targets: readonly NotificationTarget[]
  readonly onClose: () => void
}) => {
  const [mode, setMode] = useState(chosen === null ? 'all' : 'some')
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(chosen))
  const save = async () => {
    take(await api.routeAlerts({ kind, targets: mode === 'all' ? null : [...picked] }))
    const before = chosen === null ? null : [...chosen]
    announce(text.routed(kind), async () => take(await api.routeAlerts({ kind, targets: before })))
    onClose()
  }
  const toggle = (name: string) =>
    setPicked((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  return (
    <FormDialog
      title={text.routeTitle(kind)}
      submit={common.save}
      onSubmit={save}
      onClose={onClose}
    >
      <SelectField
        label={text.goesTo}
        value={mode}
        onChange={({ target }) => setMode(target.value)}
        options={[
          { value: 'all', text: text.everyTarget },
          { value: 'some', text: text.theseTargets },
        ]}
      />
      {mode === 'some' && (
        <fieldset className="grid gap-2">
          <legend className="sr-only">{text.theseTargets}</legend>
          {targets.map(({ name, kind: form }) => (
            <Checkbox
              key={name}
              label={`${name} (${form})`}
              checked={picked.has(name)}
              onChange={() => toggle(name)}
            />
          ))}
          {picked.size === 0 && <p className="text-ink-soft">{text.toNobody}</p>}
        </fieldset>
      )}
    </FormDialog>
  )
}

const Unmute = ({ mute }: { readonly mute: AlertMute }) => {
  const act = useAct()
  const { kind, agent } = mute
  const end = () =>
    void act.run(async () => {
      take(await api.unmuteAlerts({ kind, ...(agent === null ? {} : { agent }) }))
      announce(text.unmuted(kind))
    })
  return (
    <>
      <Button busy={act.busy} aria-label={text.unmuteNamed(agent ?? kind)} onClick={end}>
        {text.unmute}
      </Button>
      <Failure error={act.error} />
    </>
  )
}

const Mutes = ({ mutes }: { readonly mutes: readonly AlertMute[] }) => {
  const mayManage = useMay('alerts.manage')
  return (
    <ul className="grid gap-2" aria-label={text.mutes}>
      {mutes.map((mute) => (
        <li
          key={`${mute.kind} ${mute.agent}`}
          className="card flex flex-wrap items-center gap-3 p-3"
        >
          <p className="min-w-52 grow [overflow-wrap:anywhere]">
            <strong className="font-medium">
              {mute.agent === null ? text.kinds[mute.kind] : text.ofAgent(mute.agent)}
            </strong>
            : <Visible text={mute.reason} />
            <span className="block text-ink-soft">
              {text.mutedBy(common.person(mute.muted_by))} <Time at={mute.until} />
            </span>
          </p>
          {mayManage && <Unmute mute={mute} />}
        </li>
      ))}
    </ul>
  )
}

const kinds = Object.keys(text.kinds) as AlertKind[]

type Row = { readonly kind: AlertKind; readonly chosen: readonly string[] | null }

/** Mutes, and the notification targets that each kind of alerts is sent to. */
export const Handling = () => {
  const mayManage = useMay('alerts.manage')
  const targets = useRead('listNotifications').data?.targets
  const takers = targets?.filter(({ events }) => events.includes('alert.raised')) ?? []
  const [muting, setMuting] = useState<AlertKind | null>(null)
  const [routing, setRouting] = useState<Row | null>(null)
  const columns: readonly Column<Row>[] = [
    {
      id: 'kind',
      header: text.subject,
      cell: ({ kind }) => <span className="sm:whitespace-nowrap">{text.kinds[kind]}</span>,
    },
    {
      id: 'to',
      header: text.goesTo,
      wide: true,
      cell: ({ chosen }) => (chosen === null ? text.everyTarget : chosen.join(', ') || text.nobody),
    },
    {
      id: 'acts',
      header: '',
      cell: (row) =>
        mayManage && (
          <div className="flex gap-2 sm:justify-end">
            {takers.length > 0 && (
              <Button aria-label={text.routeTitle(row.kind)} onClick={() => setRouting(row)}>
                {text.choose}
              </Button>
            )}
            <Button aria-label={text.muteTitle(row.kind)} onClick={() => setMuting(row.kind)}>
              {text.mute}
            </Button>
          </div>
        ),
    },
  ]
  return (
    <Loaded query={useRead('showAlertHandling')}>
      {({ mutes, routes }) => (
        <>
          <Section title={text.mutes}>
            {mutes.length === 0 ? (
              <p className="text-ink-soft">{text.noMutes}</p>
            ) : (
              <Mutes mutes={mutes} />
            )}
          </Section>
          <Section title={text.routes}>
            {targets && takers.length === 0 && (
              <div className="mb-3 flex flex-wrap items-center gap-3">
                <p className="text-ink-soft">{text.noTakers}</p>
                <LinkButton to="/settings" search={{ tab: 'notifications' }}>
                  {text.toTargets}
                </LinkButton>
              </div>
            )}
            <DataTable
              caption={text.routes}
              columns={columns}
              keyOf={({ kind }) => kind}
              rows={kinds.map((kind) => ({
                kind,
                chosen: routes.find((route) => route.kind === kind)?.targets ?? null,
              }))}
            />
          </Section>
          {muting && <MuteDialog kind={muting} agent={null} onClose={() => setMuting(null)} />}
          {routing && (
            <RouteDialog {...routing} targets={takers} onClose={() => setRouting(null)} />
          )}
        </>
      )}
    </Loaded>
  )
}
