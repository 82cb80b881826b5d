/** Response codes (RFC 1035, section 4.1.1; RFC 6891, section 9). */
export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5, badVers: 16 } as const;
