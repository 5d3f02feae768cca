import type { ReactNode } from 'react'
import { common } from '../messages/common.ts'
import { Icon, type IconName } from './icon.tsx'
import { Failure } from './notice.tsx'

/** An empty page gives the next step. */
export const Empty = ({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
}) => (
  <div className="card flex flex-col items-center gap-2 px-6 py-10 text-center text-ink-soft">
    <Icon name={icon} size={32} />
    <p className="font-medium text-ink">{title}</p>
    <div className="max-w-prose">{children}</div>
  </div>
)

const Loading = () => (
  <p role="status" className="py-6 text-ink-soft">
    {common.loading}
  </p>
)

/** View of a value that is read: until then that it loads, and where that failed the cause and another try. */
export const Loaded = <T,>({
  query,
  children,
}: {
  readonly query: {
    readonly data: T | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly children: (data: T) => ReactNode
}): ReactNode => {
  const { data, error, refetch } = query
  if (data !== undefined)
    return (
      <>
        {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {children(data)}
      </>
    )
  return error !== null ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />
}
