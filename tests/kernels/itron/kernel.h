/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/itron uses of TOPPERS/ASP3 3.7, declared from its published interface (TOPPERS
 * new-generation kernel, integrated specification 3).
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "target_stddef.h"

#define UINT_C(value) value##u

typedef unsigned int uint_t;
typedef unsigned int ATR;
typedef unsigned int INTNO;
typedef unsigned int EXCNO;
typedef int ER;
typedef int ID;
typedef int PRI;
typedef unsigned int FLGPTN;
typedef unsigned int MODE;
typedef uint32_t TMO;
typedef uint32_t RELTIM;
typedef uint32_t HRTCNT;
typedef intptr_t EXINF;
typedef long long STK_T;
typedef intptr_t MPF_T;

#define E_OK 0
#define TMO_FEVR UINT32_MAX
#define TSK_SELF 0
#define TSK_NONE 0
#define TPRI_SELF 0
#define TMAX_TPRI 16
#define TWF_ORW 1u
#define TKERNEL_PRVER 0x3072u
#define TIPM_ENAALL 0
#define TA_ENAINT 1u
#define COUNT_MPF_T(bytes) (((bytes) + sizeof(MPF_T) - 1) / sizeof(MPF_T))
#define COUNT_STK_T(bytes) (((bytes) + sizeof(STK_T) - 1) / sizeof(STK_T))

#include "target_kernel.h"

ER act_tsk(ID tskid);
ER chg_pri(ID tskid, PRI tskpri);
ER ter_tsk(ID tskid);
ER get_tid(ID *p_tskid);
ER tslp_tsk(TMO tmout);
ER wup_tsk(ID tskid);
ER sus_tsk(ID tskid);
ER rsm_tsk(ID tskid);
ER dly_tsk(RELTIM dlytim);
ER rot_rdq(PRI tskpri);
HRTCNT fch_hrt(void);

ER sig_sem(ID semid);
ER twai_sem(ID semid, TMO tmout);
ER ini_sem(ID semid);

ER set_flg(ID flgid, FLGPTN setptn);
ER twai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn, TMO tmout);
ER ini_flg(ID flgid);

ER pget_mpf(ID mpfid, void **p_blk);
ER rel_mpf(ID mpfid, void *blk);
ER ini_mpf(ID mpfid);

ER sta_alm(ID almid, RELTIM almtim);
ER stp_alm(ID almid);
ER sta_cyc(ID cycid);
ER stp_cyc(ID cycid);

ER tsnd_dtq(ID dtqid, intptr_t data, TMO tmout);
ER psnd_dtq(ID dtqid, intptr_t data);
ER trcv_dtq(ID dtqid, intptr_t *p_data, TMO tmout);
ER ini_dtq(ID dtqid);

ER tloc_mtx(ID mtxid, TMO tmout);
ER unl_mtx(ID mtxid);
ER ini_mtx(ID mtxid);

#endif
