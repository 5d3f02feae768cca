import type { ServerNode } from '@gatehouse/contract'
import { useRead } from '../../api.ts'
import { nodesText } from '../../messages/nodes.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Section } from '../../ui/page.tsx'

const versionHere = (nodes: readonly ServerNode[]): string | null =>
  nodes.find(({ answering }) => answering)?.policy_version ?? null

/** The policy version of each node, where there are several: one that lags decides by another policy. */
export const NodeVersions = () => {
  const list = useRead('listNodes').data
  const running = list?.nodes.filter(({ status }) => status !== 'stopped') ?? []
  if (running.length < 2) return null
  return (
    <Section title={text.byNode}>
      <ul className="card divide-y divide-line">
        {running.map(({ name, policy_version, answering }) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-3 py-1.5">
            <span className="grow">
              {name}
              {answering && <span className="text-ink-soft"> ({nodesText.this})</span>}
            </span>
            <span className="mono">{policy_version?.slice(0, 12) ?? '–'}</span>
            {policy_version === versionHere(running) ? (
              <Badge tone="good">{text.sameVersion}</Badge>
            ) : (
              <Badge tone="warn">{nodesText.policyDiffers}</Badge>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
