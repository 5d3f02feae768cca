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
]
