/** The numbers of the errors that the extension itself reacts to (docs/errors.md). */
export const ErrorCode = {
  OTHER_SESSION: 1007,
  NOT_ADMITTED: 1011,
  NO_CLUSTER: 2001,
  DASHBOARD_UNREACHABLE: 2002,
  DASHBOARD_GARBAGE: 2003,
  TOKEN_WANTED: 2004,
  TOKEN_REFUSED: 2005,
  CLUSTER_NOT_NAMED: 2008,
  WORKER_GONE: 3003,
  HUB_UNREACHABLE: 5001,
  HUB_REFUSED: 5002,
} as const;
