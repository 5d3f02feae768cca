import type { ProxyService, ServiceTest } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { servicesText as text } from '../../messages/services.ts'
import { useMay } from '../../session.tsx'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmName, Dialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { ConnectDialog } from './connect-dialog.tsx'

const tones: Readonly<Record<ProxyService['status'], BadgeTone>> = {
  connected: 'good',
  syncing: 'accent',
  degraded: 'bad',
  disconnected: 'neutral',
}

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) =>
      name === 'showProxy' || name === 'listWrites' || name === 'listRollbacks',
  })

export const Checks = ({ checks }: Pick<ServiceTest, 'checks'>) => (
  <ul className="grid gap-2">
    {checks.map(({ name, ok, detail, fix }) => (
      <li key={name}>
        <Notice tone={ok ? 'good' : 'bad'}>
          <p>
            <strong>{name}</strong>: <Visible text={detail} />
          </p>
          {fix !== null && (
            <p className="text-ink-soft">
              <Visible text={fix} />
            </p>
          )}
        </Notice>
      </li>
    ))}
  </ul>
)

const DisconnectDialog = ({
  name,
  onClose,
}: {
  readonly name: string
  readonly onClose: () => void
}) => {
  const [forget, setForget] = useState(false)
  return (
    <ConfirmName
      title={text.disconnectTitle(name)}
      name={name}
      submit={text.disconnect}
      onClose={onClose}
      onConfirm={async () => {
        await api.disconnectService({ name, forget })
        await refresh()
        announce(text.disconnected(name))
        onClose()
      }}
    >
      <p className="mb-3">{text.disconnectIntro}</p>
      <Checkbox
        label={text.forget}
        checked={forget}
        onChange={({ target }) => setForget(target.checked)}
      />
    </ConfirmName>
  )
}

const ServiceFacts = ({ service }: { readonly service: ProxyService }) => (
  <Facts
    items={[
      [
        text.lastSync,
        service.last_sync === null ? common.never : <Time key="last" at={service.last_sync} />,
      ],
      ...(service.next_sync === null
        ? []
        : [[text.nextSync, <Time key="next" at={service.next_sync} />] as const]),
      ...(service.failing_since === null
        ? []
        : [[text.failingSince, <Time key="failing" at={service.failing_since} />] as const]),
      [text.entries, numberText(service.replica_entries)],
      [text.tabs.writes, numberText(service.buffered_writes)],
      [text.writesStatus.dead, numberText(service.dead_letters)],
      [text.tabs.rollbacks, numberText(service.rollback_points)],
      [text.agents, service.agents.includes('*') ? text.anyone : service.agents.join(', ')],
    ]}
  />
)

/** One service: how it is, and what can be done about it. */
export const ServiceCard = ({ service }: { readonly service: ProxyService }) => {
  const { name, kind, status, reason, progress } = service
  const act = useAct()
  const mayManage = useMay('proxy.manage')
  const [found, setFound] = useState<ServiceTest | null>(null)
  const [open, setOpen] = useState<'change' | 'disconnect' | null>(null)
  const close = () => setOpen(null)
  const sync = (full: boolean) =>
    void act.run(async () => {
      await api.syncService({ name, full })
      await refresh()
      announce(text.synced(name))
    })
  const test = () =>
    void act.run(async () => {
      const result = await api.testService({ name })
      if (result.ok) announce(text.testFine(name))
      else setFound(result)
    })
  return (
    <li className="card grid grid-cols-1 gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-[1.067rem] font-semibold">{name}</h2>
        <span className="text-ink-soft">{kind}</span>
        <Badge tone={tones[status]}>{text.status[status]}</Badge>
        <span className="grow" />
        {mayManage && status === 'disconnected' && (
          <Button onClick={() => setOpen('change')}>{text.change}</Button>
        )}
        {mayManage && status !== 'disconnected' && (
          <>
            <Button busy={act.busy} onClick={() => sync(false)}>
              {text.sync}
            </Button>
            <Menu
              trigger={
                <Button icon="more" aria-label={`${common.actions}: ${name}`}>
                  <span className="sm:sr-only">{common.actions}</span>
                </Button>
              }
              items={[
                { text: text.test, onSelect: test },
                { text: text.syncFull, onSelect: () => sync(true) },
                { text: text.change, onSelect: () => setOpen('change') },
                { text: text.disconnect, danger: true, onSelect: () => setOpen('disconnect') },
              ]}
            />
          </>
        )}
      </div>
      {reason !== null && (
        <Notice tone="warn">
          <Visible text={reason} />
        </Notice>
      )}
      {progress && (
        <p role="status" className="text-ink-soft">
          {text.progress(
            numberText(progress.done),
            progress.total === null ? '?' : numberText(progress.total),
          )}
        </p>
      )}
      <Failure error={act.error} />
      <ServiceFacts service={service} />
      {found && (
        <Dialog title={text.checksTitle(name)} onClose={() => setFound(null)}>
          <Checks checks={found.checks} />
        </Dialog>
      )}
      {open === 'change' && <ConnectDialog service={service} onClose={close} />}
      {open === 'disconnect' && <DisconnectDialog name={name} onClose={close} />}
    </li>
  )
}
