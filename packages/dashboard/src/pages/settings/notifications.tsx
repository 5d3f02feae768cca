import type { NotificationTarget } from '@gatehouse/contract'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'

const Target = ({ target }: { readonly target: NotificationTarget }) => {
  const { name, kind, origin, events, waiting, failed, last_delivered_at, last_failure } = target
  const act = useAct()
  const mayManage = useMay('notifications.manage')
  const then = (work: () => Promise<string>) => () =>
    void act.run(async () => {
      announce(await work())
      await queryClient.invalidateQueries({ queryKey: ['listNotifications'] })
    })
  const test = then(async () => {
    const { delivered, detail, status } = await api.testNotification({ name })
    return delivered ? text.testOk(name) : text.testFailed(name, detail ?? String(status ?? ''))
  })
  const retry = then(async () => text.retried((await api.retryNotifications({ name })).retried))
  return (
    <li className="card grid gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <p className="grow font-medium">
          {name} <span className="text-ink-soft">({kind})</span>
        </p>
        {mayManage && (
          <Button busy={act.busy} onClick={test}>
            {text.test}
          </Button>
        )}
        {mayManage && failed > 0 && (
          <Button busy={act.busy} onClick={retry}>
            {text.retryFailed}
          </Button>
        )}
      </div>
      <Facts
        items={[
          [
            text.target,
            <span key="origin" className="mono">
              {origin}
            </span>,
          ],
          [text.events, events.join(', ')],
          [text.delivery, text.waitingFailed(waiting, failed)],
          [
            text.delivered,
            last_delivered_at === null ? common.never : <Time key="at" at={last_delivered_at} />,
          ],
          ...(last_failure === null
            ? []
            : [[common.details, <Visible key="failure" text={last_failure} />] as const]),
        ]}
      />
      <Failure error={act.error} />
    </li>
  )
}

export const Notifications = () => (
  <Section title={text.targets}>
    <Loaded query={useRead('listNotifications')}>
      {({ targets }) =>
        targets.length === 0 ? (
          <Empty icon="alerts" title={text.noTargets}>
            {text.noTargetsNext}
          </Empty>
        ) : (
          <ul className="grid gap-3">
            {targets.map((target) => (
              <Target key={target.name} target={target} />
            ))}
          </ul>
        )
      }
    </Loaded>
  </Section>
)
