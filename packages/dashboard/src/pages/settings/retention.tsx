import type { RetentionStatus, Setting } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/notice.tsx'
import { bytesText, numberText } from '../../ui/numbers.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'

/** A value of the settings, with where it comes from. */
const Kept = ({
  setting,
  children,
}: {
  readonly setting: Setting | undefined
  readonly children: ReactNode
}) => (
  <>
    {children}
    {setting && (
      <span className="text-ink-soft">
        {' '}
        ({text.origins[setting.origin]}
        {setting.source !== null && `: ${setting.source}`})
      </span>
    )}
  </>
)

const Removed = ({ removed }: { readonly removed: NonNullable<RetentionStatus['removed']> }) => (
  <Section title={text.removedTitle}>
    <div className="card p-4">
      <Facts
        items={[
          [text.removedEntries, numberText(removed.entries)],
          [text.removedAt, <Time key="at" at={removed.removed_at} />],
          [text.removedWhy, text.removedReasons[removed.reason]],
          [
            text.removedHead,
            <span key="head" className="mono [overflow-wrap:anywhere]">
              {removed.head}
            </span>,
          ],
          [
            text.removedEntry,
            <Link
              key="entry"
              to="/audit/$id"
              params={{ id: removed.entry }}
              className="mono underline [overflow-wrap:anywhere]"
            >
              {removed.entry}
            </Link>,
          ],
        ]}
      />
      <p className="mt-3 text-ink-soft">{text.removedHint}</p>
    </div>
  </Section>
)

const Log = ({ status }: { readonly status: RetentionStatus }) => {
  const settings = useRead('getConfiguration').data?.settings
  const settingOf = (key: string) => settings?.find((one) => one.key === key)
  const mayApply = useMay('audit.manage')
  const act = useAct()
  const apply = () =>
    void act.run(async () => {
      queryClient.setQueryData(['showRetention', {}], await api.applyRetention())
      announce(text.retentionApplied)
    })
  const { max_age_days, max_bytes, removable_entries, held_by, exported_to } = status
  return (
    <Section
      title={text.retention}
      actions={
        mayApply &&
        removable_entries > 0 && (
          <Button busy={act.busy} onClick={apply}>
            {text.removeNow}
          </Button>
        )
      }
    >
      <div className="card p-4">
        <Facts
          items={[
            [
              text.maxAge,
              <Kept key="age" setting={settingOf('audit.retention.max_age')}>
                {max_age_days === null ? text.keptForever : text.days(max_age_days)}
              </Kept>,
            ],
            [
              text.maxSize,
              <Kept key="size" setting={settingOf('audit.retention.max_bytes')}>
                {max_bytes === null ? text.anySize : bytesText(max_bytes)}
              </Kept>,
            ],
            [text.logNow, text.logSize(numberText(status.entries), bytesText(status.bytes))],
            [text.oldestEntry, status.oldest === null ? '–' : <Time key="at" at={status.oldest} />],
            [text.due, text.dueText(numberText(status.due_entries), numberText(removable_entries))],
            ...(held_by === null ? [] : [[text.heldBy, held_by] as const]),
            [text.exportedTo, exported_to.join(', ') || common.none],
          ]}
        />
        <p className="mt-3 text-ink-soft">{text.retentionHint}</p>
        <Failure error={act.error} />
      </div>
    </Section>
  )
}

/** How long the log is kept by the settings, and what has gone by now. */
export const Retention = () => (
  <Loaded query={useRead('showRetention')}>
    {(status) => (
      <>
        <Log status={status} />
        {status.removed && <Removed removed={status.removed} />}
      </>
    )}
  </Loaded>
)
