import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './cx.ts'

export type MenuItem = {
  readonly text: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly onSelect: () => void
}

/** Further acts behind a button. Not modal: a modal menu writes styles that the page's policy refuses. */
export const Menu = ({
  trigger,
  items,
}: {
  /** A button. */
  readonly trigger: ReactNode
  readonly items: readonly MenuItem[]
}) => (
  <Radix.Root modal={false}>
    <Radix.Trigger asChild>{trigger}</Radix.Trigger>
    <Radix.Portal>
      <Radix.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        className="z-40 min-w-44 rounded-lg border border-line bg-raised p-1 shadow-xl"
      >
        {items.map(({ text, danger, disabled, onSelect }) => (
          <Radix.Item
            key={text}
            disabled={disabled === true}
            onSelect={onSelect}
            className={cx(
              'flex min-h-11 cursor-pointer items-center rounded px-2.5 data-[disabled]:opacity-50 data-[highlighted]:bg-sunken data-[highlighted]:outline-2 data-[highlighted]:-outline-offset-2 data-[highlighted]:outline-accent sm:min-h-8',
              danger === true && 'text-bad',
            )}
          >
            {text}
          </Radix.Item>
        ))}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
)
