import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'

export type Tab = { readonly value: string; readonly text: string; readonly count?: number }

/** The chosen tab may lie outside of a narrow list: it is scrolled to the middle. */
function useChosenInView(value: string) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = list.current
    if (!box) return undefined
    const center = () => {
      const chosen = box.querySelector('[data-state=active]')?.getBoundingClientRect()
      const { left, width } = box.getBoundingClientRect()
      if (chosen) box.scrollLeft += chosen.left + chosen.width / 2 - (left + width / 2)
    }
    const sizes = new ResizeObserver(center)
    sizes.observe(box)
    return () => sizes.disconnect()
  }, [value])
  return list
}

/** Tabs, with the chosen one in the address: Back works, and a link leads there. */
export const Tabs = ({
  tabs,
  value,
  onChange,
  label,
  children,
}: {
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChange: (value: string) => void
  readonly label: string
  readonly children: ReactNode
}) => (
  <Radix.Root value={value} onValueChange={onChange}>
    <Radix.List
      ref={useChosenInView(value)}
      aria-label={label}
      className="mb-4 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line"
    >
      {tabs.map((tab) => (
        <Radix.Trigger
          key={tab.value}
          value={tab.value}
          className="-mb-px inline-flex min-h-11 items-center gap-1.5 whitespace-nowrap border-b-2 border-transparent px-3 text-ink-soft -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink sm:min-h-10"
        >
          {tab.text}
          {tab.count !== undefined && tab.count > 0 && (
            <>
              <span className="sr-only">, </span>
              <span className="figure rounded-full bg-sunken px-1.5 text-[0.8rem]">
                {tab.count}
              </span>
            </>
          )}
        </Radix.Trigger>
      ))}
    </Radix.List>
    {children}
  </Radix.Root>
)

export const TabPanel = ({
  value,
  children,
}: {
  readonly value: string
  readonly children: ReactNode
}) => (
  <Radix.Content value={value} className="outline-offset-4">
    {children}
  </Radix.Content>
)
