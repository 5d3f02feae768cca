import { type ReactNode, useEffect } from 'react'
import { setPageTitle } from '../shell/title.ts'

/** A page: its title, what can be done here, and its content. */
export const Page = ({
  title,
  aside,
  intro,
  actions,
  children,
}: {
  readonly title: string
  /** Beside the title: a state, a count. */
  readonly aside?: ReactNode
  readonly intro?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => {
  useEffect(() => setPageTitle(title), [title])
  return (
    <>
      <header className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex min-w-0 grow flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-[1.4rem] font-semibold leading-tight [overflow-wrap:anywhere]">
            {title}
          </h1>
          {aside}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
        {intro && (
          <p className="basis-full text-ink-soft">
            <span className="block max-w-prose">{intro}</span>
          </p>
        )}
      </header>
      {children}
    </>
  )
}

export const Section = ({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => (
  <section className="mt-6">
    <div className="mb-2 flex flex-wrap items-center gap-2">
      <h2 className="grow text-[1.067rem] font-semibold">{title}</h2>
      {actions}
    </div>
    {children}
  </section>
)

/** Names and values, one pair a line; beneath each other on a phone. */
export const Facts = ({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(8rem,max-content)_1fr]">
    {items.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-ink-soft max-sm:mt-1.5">{name}</dt>
        <dd className="min-w-0 [overflow-wrap:anywhere]">{value}</dd>
      </div>
    ))}
  </dl>
)
