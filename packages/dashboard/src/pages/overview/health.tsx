import type { GateProcesses, Health, SystemStatus } from '@gatehouse/contract'
import { overviewText as text } from '../../messages/overview.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Section } from '../../ui/page.tsx'
import { durationText } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

type Status = keyof typeof text.health

const tones: Readonly<Record<Status, BadgeTone>> = {
  healthy: 'good',
  degraded: 'warn',
  unhealthy: 'bad',
  disabled: 'neutral',
}

export const HealthBadge = ({ status }: { readonly status: Status }) => (
  <Badge tone={tones[status]}>{text.health[status]}</Badge>
)

type Part = {
  readonly status: Status
  readonly reason?: string | undefined
  readonly gate_processes?: GateProcesses
}

/** Each component with its reason; those that are not well come first. */
export const Components = ({
  health,
  status,
}: {
  readonly health: Health
  readonly status: SystemStatus
}) => {
  const parts = Object.entries(health.components) as [keyof typeof text.component, Part][]
  const order: readonly Status[] = ['unhealthy', 'degraded', 'healthy', 'disabled']
  const sorted = parts.toSorted(([, a], [, b]) => order.indexOf(a.status) - order.indexOf(b.status))
  return (
    <Section title={text.components}>
      <ul className="card divide-y divide-line">
        {sorted.map(([name, part]) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-3 py-1.5">
            <span className="grow">{text.component[name]}</span>
            <HealthBadge status={part.status} />
            {part.gate_processes && (
              <span className="w-full text-[0.933rem] text-ink-soft">
                {text.gateProcesses(part.gate_processes)}
              </span>
            )}
            {part.reason !== undefined && (
              <span className="w-full text-[0.933rem] text-ink-soft [overflow-wrap:anywhere]">
                <Visible text={part.reason} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <p className="mt-2 text-[0.933rem] text-ink-soft">
        {text.version(status.version)} · {text.uptime(durationText(status.uptime_seconds * 1000))} ·{' '}
        {(Object.entries(text.resources) as [keyof Health['resources'], string][])
          .map(([name, label]) => `${label} ${Math.round(health.resources[name])}\u00a0%`)
          .join(' · ')}
      </p>
    </Section>
  )
}
