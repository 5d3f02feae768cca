import { lazyRouteComponent } from '@tanstack/react-router'
import { shellText } from '../messages/shell.ts'
import type { IconName } from '../ui/icon.tsx'

type PageEntry = {
  readonly path: string
  readonly title: string
  readonly icon: IconName
  /** `g` and this letter lead there. */
  readonly key: string
  readonly component: ReturnType<typeof lazyRouteComponent>
}

const { pages: titles } = shellText

/** Pages of the menu, in its order. Each is loaded when it is first opened. */
export const pages: readonly PageEntry[] = [
  {
    path: '/overview',
    title: titles.overview,
    icon: 'overview',
    key: 'o',
    component: lazyRouteComponent(() => import('../pages/overview/overview.tsx'), 'OverviewPage'),
  },
  {
    path: '/approvals',
    title: titles.approvals,
    icon: 'approvals',
    key: 'p',
    component: lazyRouteComponent(
      () => import('../pages/approvals/approvals.tsx'),
      'ApprovalsPage',
    ),
  },
  {
    path: '/activity',
    title: titles.activity,
    icon: 'activity',
    key: 'a',
    component: lazyRouteComponent(() => import('../pages/activity/activity.tsx'), 'ActivityPage'),
  },
  {
    path: '/agents',
    title: titles.agents,
    icon: 'agents',
    key: 'n',
    component: lazyRouteComponent(() => import('../pages/agents/agents.tsx'), 'AgentsPage'),
  },
  {
    path: '/map',
    title: titles.map,
    icon: 'map',
    key: 'h',
    component: lazyRouteComponent(() => import('../pages/map/map.tsx'), 'MapPage'),
  },
  {
    path: '/audit',
    title: titles.audit,
    icon: 'audit',
    key: 't',
    component: lazyRouteComponent(() => import('../pages/audit/audit.tsx'), 'AuditPage'),
  },
  {
    path: '/policy',
    title: titles.policy,
    icon: 'policy',
    key: 'l',
    component: lazyRouteComponent(() => import('../pages/policy/policy.tsx'), 'PolicyPage'),
  },
  {
    path: '/services',
    title: titles.services,
    icon: 'services',
    key: 's',
    component: lazyRouteComponent(() => import('../pages/services/services.tsx'), 'ServicesPage'),
  },
  {
    path: '/upstreams',
    title: titles.upstreams,
    icon: 'upstreams',
    key: 'u',
    component: lazyRouteComponent(
      () => import('../pages/upstreams/upstreams.tsx'),
      'UpstreamsPage',
    ),
  },
  {
    path: '/state',
    title: titles.state,
    icon: 'state',
    key: 'v',
    component: lazyRouteComponent(() => import('../pages/state/state.tsx'), 'StatePage'),
  },
  {
    path: '/secrets',
    title: titles.secrets,
    icon: 'secrets',
    key: 'c',
    component: lazyRouteComponent(() => import('../pages/secrets/secrets.tsx'), 'SecretsPage'),
  },
  {
    path: '/models',
    title: titles.models,
    icon: 'models',
    key: 'm',
    component: lazyRouteComponent(() => import('../pages/models/models.tsx'), 'ModelsPage'),
  },
  {
    path: '/alerts',
    title: titles.alerts,
    icon: 'alerts',
    key: 'e',
    component: lazyRouteComponent(() => import('../pages/alerts/alerts.tsx'), 'AlertsPage'),
  },
  {
    path: '/settings',
    title: titles.settings,
    icon: 'settings',
    key: 'i',
    component: lazyRouteComponent(() => import('../pages/settings/settings.tsx'), 'SettingsPage'),
  },
  {
    path: '/reference',
    title: titles.reference,
    icon: 'reference',
    key: 'x',
    component: lazyRouteComponent(
      () => import('../pages/reference/reference.tsx'),
      'ReferencePage',
    ),
  },
]

/** Pages that others lead to. */
export const innerPages: readonly Pick<PageEntry, 'path' | 'component'>[] = [
  {
    path: '/approvals/$id',
    component: lazyRouteComponent(() => import('../pages/approvals/approval.tsx'), 'ApprovalPage'),
  },
  {
    path: '/agents/$name',
    component: lazyRouteComponent(() => import('../pages/agent/agent.tsx'), 'AgentPage'),
  },
  {
    path: '/audit/$id',
    component: lazyRouteComponent(() => import('../pages/audit/entry.tsx'), 'EntryPage'),
  },
  {
    path: '/upstreams/$name',
    component: lazyRouteComponent(() => import('../pages/upstreams/upstream.tsx'), 'UpstreamPage'),
  },
]
