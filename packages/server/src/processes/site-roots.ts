import type { ProcessSite } from '../ports/processes.ts'

type SiteRoot = { readonly path: string; readonly read_only: boolean }

/** The folders of an agent as paths have them, the innermost first. */
export const siteRoots = ({ files, workspace, mounts }: ProcessSite): readonly SiteRoot[] =>
  [{ path: workspace, read_only: false }, ...mounts]
    .map(({ path, read_only }) => ({ path: files.resolve(path), read_only }))
    .toSorted((a, b) => b.path.length - a.path.length)

/** The folder of the agent that a path lies in; of one inside another the inner. */
export const siteRootOf = (site: ProcessSite, path: string): SiteRoot | undefined =>
  siteRoots(site).find((root) => path === root.path || path.startsWith(`${root.path}/`))

export const isWritable = (site: ProcessSite, path: string): boolean =>
  siteRootOf(site, path)?.read_only === false
