export * from './error-classes.ts'
export {
  ApprovalPending,
  GatehouseError,
  LimitError,
  UnexpectedAnswer,
  UnknownNameError,
  Unreachable,
} from './gatehouse-error.ts'
