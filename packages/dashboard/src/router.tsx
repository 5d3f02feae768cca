import {
  createRootRoute,
  createRoute,
  createRouter,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router'
import { Frame } from './shell/frame.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PageFailed } from './shell/page-failed.tsx'
import { innerPages, pages } from './shell/pages.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const textsOf = (search: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )

const routeOf = ({
  path,
  component,
}: {
  readonly path: string
  readonly component: RouteComponent
}) => createRoute({ getParentRoute: () => root, path, component, validateSearch: textsOf })

/** Notices and clients of agents link to a request as `/#approvals/ID`, which needs no page of its own. */
const linkedApproval = /^approvals\/([\w-]+)$/

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: ({ location }) => {
    const [, id] = linkedApproval.exec(location.hash) ?? []
    // oxlint-disable-next-line typescript/only-throw-error -- the router's own way to lead on
    if (id !== undefined) throw redirect({ to: '/approvals/$id', params: { id }, replace: true })
  },
  ...(pages[0] && { component: pages[0].component }),
})

export const router = createRouter({
  routeTree: root.addChildren([start, ...[...pages, ...innerPages].map(routeOf)]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
  // Filters are texts, as they stand in the address.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(textsOf(search)).toString()
    return text === '' ? '' : `?${text}`
  },
})
